package dev.isola.codec.tar;

import java.util.Map;

/**
 * An entry of a tar archive.
 *
 * @param path the path as written in the archive, not validated
 * @param target the target of a symbolic link, or the path that a hard link shares
 * @param mode permission bits, including the set-id and sticky bits
 * @param attributes extended attributes
 */
public record TarEntry(
    String path,
    Kind kind,
    String target,
    int mode,
    long uid,
    long gid,
    long size,
    long seconds,
    int nanos,
    Map<String, byte[]> attributes) {

  /** The type of an entry. */
  public enum Kind {
    FILE,
    FOLDER,
    LINK,
    HARD_LINK,
    /** A deletion of the path. Only in archives of changes. */
    REMOVED,
    /** A device, a pipe or a socket. */
    SPECIAL
  }
}
