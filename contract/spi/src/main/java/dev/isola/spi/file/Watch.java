package dev.isola.spi.file;

import java.time.Duration;
import java.util.Optional;

/** A watch that is running. Changes wait in a bounded queue until they are taken. */
public interface Watch extends AutoCloseable {
  /**
   * Waits for the next change; empty when none came within {@code patience} or the watch has ended.
   */
  Optional<FileChange> next(Duration patience);

  /** Returns true when no further change will come. */
  boolean ended();

  @Override
  void close();
}
