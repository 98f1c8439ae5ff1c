package dev.isola.provider.memory.file;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/** What can go wrong with a path, in words. */
final class FileFaults {
  private FileFaults() {}

  private static SandboxException of(ErrorCode code, String what, String remedy, String path) {
    return Fault.of(code, what + ": " + path, remedy).with("path", path).exception();
  }

  static SandboxException invalid(String path, String why) {
    return of(ErrorCode.INVALID_REQUEST, "the path " + why, "correct the path", path);
  }

  static SandboxException missing(String path) {
    return missing(path, path);
  }

  /** Like {@link #missing(String)}, for a path whose links led to {@code resolved}. */
  static SandboxException missing(String path, String resolved) {
    return Fault.of(
            ErrorCode.FILE_NOT_FOUND,
            "no such file or folder: " + path,
            "list the folder to see what is there")
        .with("path", path)
        .with("resolved", resolved)
        .exception();
  }

  static SandboxException exists(String path) {
    return of(
        ErrorCode.FILE_EXISTS,
        "it exists already",
        "choose another path, or allow replacing it",
        path);
  }

  static SandboxException notAFolder(String path) {
    return of(ErrorCode.NOT_A_FOLDER, "this is not a folder", "name a folder", path);
  }

  static SandboxException isAFolder(String path) {
    return of(ErrorCode.IS_A_FOLDER, "this is a folder", "name a file", path);
  }

  static SandboxException notAFile(String path) {
    return of(
        ErrorCode.NOT_A_FILE,
        "this is not a regular file",
        "only regular files can be read and written",
        path);
  }

  static SandboxException notEmpty(String path) {
    return of(
        ErrorCode.FOLDER_NOT_EMPTY,
        "the folder is not empty",
        "remove it recursively, or empty it first",
        path);
  }

  static SandboxException badArchive(String why) {
    return Fault.of(
            ErrorCode.BAD_ARCHIVE,
            "the archive is broken or not allowed: " + why,
            "pack the archive without such entries")
        .exception();
  }

  static SandboxException tooMuch(String resource, long limit) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the archive holds more than " + limit + " " + resource,
            "stay within the limit, or raise it")
        .with("resource", resource)
        .with("limit", Long.toString(limit))
        .exception();
  }
}
