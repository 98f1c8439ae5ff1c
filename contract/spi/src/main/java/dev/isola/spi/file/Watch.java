package dev.isola.spi.file;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An active watch. Changes are queued in a bounded queue. */
public interface Watch extends AutoCloseable {
  /** Waits for the next change. Returns empty after {@code timeout}, or if the watch has ended. */
  Optional<FileChange> next(Duration timeout);

  /**
   * Returns the changes that have not been returned yet, without waiting for new ones. A provider
   * that can tell includes every change that was made before this call; others return what has
   * arrived.
   *
   * @param max the largest number of changes to return; the next call returns the rest
   */
  default List<FileChange> drain(int max) {
    List<FileChange> changes = new ArrayList<>();
    while (changes.size() < max) {
      Optional<FileChange> change = next(Duration.ZERO);
      if (change.isEmpty()) {
        break;
      }
      changes.add(change.get());
    }
    return changes;
  }

  /** Returns whether the watch has ended and will report no further change. */
  boolean ended();

  @Override
  void close();
}
