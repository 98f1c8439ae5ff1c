package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Limits what one sandbox takes of what the kernel counts for the whole machine. Terminals are
 * limited by the mount of {@code /dev/pts}, inotify instances by the sandbox's user namespace.
 */
final class KernelObjectLimits {
  private static final Path INOTIFY = Path.of("/proc/sys/user/max_inotify_instances");

  /** An option of the steps that make a user namespace. */
  static final String LIMITED = "limited";

  private KernelObjectLimits() {}

  /**
   * Returns true when the kernel has the setting and this process can reach it: in a container
   * {@code /proc/sys} is often mounted read only.
   */
  static boolean areEnforceable() {
    try {
      return Files.exists(INOTIFY) && !Files.getFileStore(INOTIFY).isReadOnly();
    } catch (IOException unknown) {
      return false;
    }
  }
}
