package dev.isola.spi.file;

import java.time.Instant;
import java.util.Optional;

/**
 * File metadata.
 *
 * @param path the path, in a form that other calls accept
 * @param mode permission bits such as {@code 0644}, including the set-id and sticky bits
 * @param owner the user name inside the sandbox, or the number if the user has no name
 * @param linkTarget the target as stored in the symbolic link; empty for other types
 */
public record FileInfo(
    String path,
    FileType type,
    int mode,
    long size,
    long uid,
    long gid,
    String owner,
    String group,
    Instant modifiedAt,
    Optional<String> linkTarget) {

  /** Returns the last component of the path. */
  public String name() {
    String trimmed =
        path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return trimmed.substring(trimmed.lastIndexOf('/') + 1);
  }
}
