package dev.isola.codec.tar;

import java.util.Map;

/**
 * One file of a tree on its way.
 *
 * @param path as the archive has it; nothing about it is checked yet
 * @param target of a link: where a symbolic link points, or the path a hard link shares
 * @param mode permissions with the set-id and sticky bits
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

  /** What a file is. */
  public enum Kind {
    FILE,
    FOLDER,
    LINK,
    HARD_LINK,
    /** Nothing: what had that name was removed. Only in archives of changes. */
    REMOVED,
    /** A device, a pipe or a socket. */
    SPECIAL
  }
}
