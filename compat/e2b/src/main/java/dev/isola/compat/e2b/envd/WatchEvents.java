package dev.isola.compat.e2b.envd;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Translates the changes of a watched directory into E2B's events.
 *
 * @param folder the directory, without a trailing slash
 * @param entries describes changed files; empty if the client did not ask for it
 */
record WatchEvents(Watch watch, String folder, Optional<FileEntries> entries)
    implements AutoCloseable {

  /**
   * Waits for the next change.
   *
   * @throws dev.isola.spi.error.Conflict when changes were lost
   */
  Optional<Map<String, Object>> next(Duration timeout) {
    return watch.next(timeout).filter(WatchEvents::hasEvent).map(this::event);
  }

  /**
   * Returns the changes since the previous call, up to the present.
   *
   * @param max the largest number of changes to return
   * @throws dev.isola.spi.error.Conflict when changes were lost
   */
  List<Map<String, Object>> drain(int max) {
    return watch.drain(max).stream().filter(WatchEvents::hasEvent).map(this::event).toList();
  }

  private static boolean hasEvent(FileChange change) {
    return change.kind() != FileChange.Kind.ROOT_GONE;
  }

  private Map<String, Object> event(FileChange change) {
    Map<String, Object> event = new LinkedHashMap<>();
    String path = change.path();
    event.put("name", path.startsWith(folder + "/") ? path.substring(folder.length() + 1) : path);
    event.put("type", "EVENT_TYPE_" + eventType(change.kind()));
    entries.flatMap(all -> entry(all, path)).ifPresent(entry -> event.put("entry", entry));
    return event;
  }

  boolean ended() {
    return watch.ended();
  }

  private static Optional<Map<String, Object>> entry(FileEntries entries, String path) {
    try {
      return Optional.of(entries.at(path));
    } catch (SandboxException e) {
      return Optional.empty(); // already removed
    }
  }

  private static String eventType(FileChange.Kind kind) {
    return switch (kind) {
      case CREATED, MOVED_TO -> "CREATE";
      case MODIFIED -> "WRITE";
      case REMOVED -> "REMOVE";
      case MOVED_FROM -> "RENAME";
      case ATTRIBUTES -> "CHMOD";
      case OVERFLOW, ROOT_GONE ->
          throw Fault.of(
                  ErrorCode.CONFLICT,
                  "file changes arrived faster than they could be sent; some were lost",
                  "start a new watch and list the directory")
              .exception();
    };
  }

  @Override
  public void close() {
    watch.close();
  }
}
