package dev.isola.spi.file;

/**
 * A change reported by a {@link Watch}.
 *
 * @param path the changed path, in a form that other calls accept
 */
public record FileChange(Kind kind, String path, boolean folder) {
  public enum Kind {
    CREATED,
    MODIFIED,
    REMOVED,
    MOVED_FROM,
    MOVED_TO,
    ATTRIBUTES,
    /** Changes arrived faster than they were consumed, and some were dropped. Rescan the folder. */
    OVERFLOW,
    /** The watched folder was removed; the watch has ended. */
    ROOT_GONE
  }
}
