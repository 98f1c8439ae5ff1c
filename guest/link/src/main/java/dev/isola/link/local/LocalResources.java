package dev.isola.link.local;

import dev.isola.codec.proc.MemoryInfo;
import dev.isola.spi.provider.HostResources;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the resources of this machine. */
final class LocalResources {
  private static final long MEGABYTE = 1 << 20;

  private LocalResources() {}

  /**
   * Returns the current resources; empty on a machine that does not report its memory.
   *
   * @param data a folder on the file system that sandboxes write to
   */
  static Optional<HostResources> read(Path proc, Path data) {
    MemoryInfo memory = MemoryInfo.read(proc);
    long total = memory.total().orElse(0) / MEGABYTE;
    if (total == 0) {
      return Optional.empty();
    }
    int processors = Runtime.getRuntime().availableProcessors();
    try {
      FileStore disk = Files.getFileStore(data);
      return Optional.of(
          new HostResources(
              processors,
              total,
              megabytes(memory.available()),
              OptionalLong.of(disk.getTotalSpace() / MEGABYTE),
              OptionalLong.of(disk.getUsableSpace() / MEGABYTE)));
    } catch (IOException unknown) {
      return Optional.of(
          new HostResources(
              processors,
              total,
              megabytes(memory.available()),
              OptionalLong.empty(),
              OptionalLong.empty()));
    }
  }

  private static OptionalLong megabytes(OptionalLong bytes) {
    return bytes.isPresent() ? OptionalLong.of(bytes.getAsLong() / MEGABYTE) : bytes;
  }
}
