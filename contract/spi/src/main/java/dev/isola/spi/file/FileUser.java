package dev.isola.spi.file;

/**
 * The user that file operations act as; see {@link FileSystem#as}.
 *
 * @param name {@code user}, {@code user:group} or numbers; the owner of files that a call creates
 * @param privileged whether calls have the permissions of root instead of those of the user; if so,
 *     files that a call overwrites also become owned by the user
 */
public record FileUser(String name, boolean privileged) {

  /** Returns a user that acts with its own permissions. */
  public static FileUser of(String name) {
    return new FileUser(name, false);
  }

  /** Returns a user that acts with root privileges, creating files owned by {@code owner}. */
  public static FileUser rootFor(String owner) {
    return new FileUser(owner, true);
  }
}
