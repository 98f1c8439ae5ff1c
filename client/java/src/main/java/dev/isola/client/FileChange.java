package dev.isola.client;

import java.util.Locale;

/**
 * A change in a watched folder.
 *
 * @param path in a form that {@link Files} accepts; empty for {@link Kind#OVERFLOW} and {@link
 *     Kind#GONE}
 * @param isFolder whether the file is a folder
 */
public record FileChange(Kind kind, String path, boolean isFolder) {
  /** Kind of a change. */
  public enum Kind {
    CREATED,
    MODIFIED,
    REMOVED,
    /** Moved away, within the watched folder or out of it. */
    MOVED_FROM,
    /** Moved to this path, from within the watched folder or from outside. */
    MOVED_TO,
    /** Its mode, owner or times changed. */
    ATTRIBUTES,
    /** Changes were lost, because there were too many or the connection broke. List the folder. */
    OVERFLOW,
    /** The watched folder was removed; the watch has ended. */
    GONE,
    /** A kind that this client does not know. */
    OTHER
  }

  static final FileChange OVERFLOW = new FileChange(Kind.OVERFLOW, "", true);
  static final FileChange GONE = new FileChange(Kind.GONE, "", true);

  static FileChange read(JsonFields fields) {
    return new FileChange(kind(fields.text("kind")), fields.text("path"), fields.flag("folder"));
  }

  private static Kind kind(String name) {
    try {
      return Kind.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      return Kind.OTHER;
    }
  }
}
