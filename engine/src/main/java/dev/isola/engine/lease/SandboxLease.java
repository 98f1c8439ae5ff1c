package dev.isola.engine.lease;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A lease that this process holds. It needs no renewal and ends with the process, however that
 * ends, because it is a file lock.
 */
public final class SandboxLease implements AutoCloseable {
  private final SandboxId id;
  private final Path file;
  private final FileChannel channel;

  SandboxLease(SandboxId id, Path file, FileChannel channel) {
    this.id = id;
    this.file = file;
    this.channel = channel;
  }

  public SandboxId id() {
    return id;
  }

  /**
   * Ends the lease and deletes its file. Call it after the sandbox was destroyed. A sandbox that
   * could not be destroyed is removed by the next reconciliation.
   */
  @Override
  public void close() {
    // Delete while locked: an unlocked file is the lease of a process that died.
    try (channel) {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      SandboxLeases.OWN.remove(file);
    }
  }
}
