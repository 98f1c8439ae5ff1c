package dev.isola.engine.lease;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A lease that this process holds. It lasts as long as the process, which needs not renew it: the
 * kernel ends it with the process, however that ends.
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
   * Ends the lease and removes its file. Called when the sandbox is destroyed. A sandbox whose
   * destruction failed is removed by the next reconciliation.
   */
  @Override
  public void close() {
    // Removed while it is locked: a file without a lock is a lease whose holder died.
    try (channel) {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      SandboxLeases.OWN.remove(file);
    }
  }
}
