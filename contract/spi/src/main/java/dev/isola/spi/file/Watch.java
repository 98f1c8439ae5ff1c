package dev.isola.spi.file;

import java.time.Duration;
import java.util.Optional;

/** An active watch. Changes are queued in a bounded queue. */
public interface Watch extends AutoCloseable {
  /** Waits for the next change. Returns empty after {@code timeout}, or if the watch has ended. */
  Optional<FileChange> next(Duration timeout);

  /** Returns whether the watch has ended and will report no further change. */
  boolean ended();

  @Override
  void close();
}
