package dev.isola.spi.file;

/**
 * One change that a {@link Watch} saw.
 *
 * @param path of what changed, as a next call would name it
 */
public record FileChange(Kind kind, String path, boolean folder) {
  public enum Kind {
    CREATED,
    MODIFIED,
    REMOVED,
    MOVED_FROM,
    MOVED_TO,
    ATTRIBUTES,
    /** Changes came faster than they could be told; some are missing. Look again at the whole. */
    OVERFLOW,
    /** The watched folder itself is gone; the watch has ended. */
    ROOT_GONE
  }
}
