package dev.isola.spi.file;

import java.time.Instant;
import java.util.Optional;

/**
 * What is known of one file.
 *
 * @param path as a next call would name it
 * @param mode permission bits, {@code 0644} and the like, with set-id and sticky bits
 * @param owner the owner's name inside the sandbox, or its number where it has none
 * @param linkTarget as written in the link; empty for anything else
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

  /** Returns the last part of the path. */
  public String name() {
    String trimmed =
        path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return trimmed.substring(trimmed.lastIndexOf('/') + 1);
  }
}
