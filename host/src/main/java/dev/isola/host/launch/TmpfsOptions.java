package dev.isola.host.launch;

/**
 * The options of a tmpfs in a sandbox. The size limits bytes but not files: an empty file takes no
 * page, but kernel memory. So the number of files is limited to the number of pages.
 */
final class TmpfsOptions {
  private static final long KILOBYTES_PER_PAGE = 4;
  private static final long MIN_FILES = 1024;

  private TmpfsOptions() {}

  static String of(long kilobytes, SandboxUserIds users) {
    return "mode=0755,size="
        + kilobytes
        + "k,nr_inodes="
        + Math.max(MIN_FILES, kilobytes / KILOBYTES_PER_PAGE)
        + ",uid="
        + users.root()
        + ",gid="
        + users.root();
  }
}
