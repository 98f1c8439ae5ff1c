package dev.isola.spi.file;

/**
 * The user that calls on files act as ({@link FileSystem#as}).
 *
 * @param name a user, {@code user:group} or numbers; what a call creates belongs to it
 * @param privileged whether calls have root's permissions, and not those of the user; then a file
 *     that a call overwrites belongs to the user, too
 */
public record FileUser(String name, boolean privileged) {

  /** Returns a user with its own permissions. */
  public static FileUser of(String name) {
    return new FileUser(name, false);
  }

  /** Returns root, creating files owned by {@code owner}. */
  public static FileUser rootFor(String owner) {
    return new FileUser(owner, true);
  }
}
