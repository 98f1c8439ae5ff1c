package dev.isola.host.image;

import java.io.IOException;

/** A failed system call with its errno. */
final class NativeException extends IOException {
  private static final long serialVersionUID = 1L;

  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EAGAIN = 11;
  static final int EACCES = 13;
  static final int EEXIST = 17;
  static final int EXDEV = 18;
  static final int ENOTDIR = 20;
  static final int EISDIR = 21;
  static final int EINVAL = 22;
  static final int ENOSPC = 28;
  static final int EMLINK = 31;
  static final int ENOSYS = 38;
  static final int ENOTEMPTY = 39;
  static final int ELOOP = 40;
  static final int ENODATA = 61;
  static final int ENOTSUP = 95;
  static final int EDQUOT = 122;

  private final int errno;

  NativeException(String call, int errno) {
    super(call + ": " + describe(errno));
    this.errno = errno;
  }

  int errno() {
    return errno;
  }

  private static String describe(int errno) {
    return switch (errno) {
      case EPERM -> "not permitted";
      case ENOENT -> "does not exist";
      case EACCES -> "permission denied";
      case EEXIST -> "already exists";
      case EXDEV -> "crosses a mount point";
      case ENOTDIR -> "not a folder";
      case EISDIR -> "is a folder";
      case EINVAL -> "invalid";
      case ENOSPC -> "no space left on the disk";
      case ENOSYS -> "not supported by this kernel (openat2 needs Linux 5.6)";
      case ENOTEMPTY -> "not empty";
      case ELOOP -> "leads through a symbolic link";
      case ENOTSUP -> "not supported by this file system";
      case EDQUOT -> "over quota";
      default -> "error " + errno;
    };
  }
}
