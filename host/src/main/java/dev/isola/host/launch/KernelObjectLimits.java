package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Limits a sandbox's share of kernel objects that are counted for the whole host. The mount of
 * {@code /dev/pts} limits terminals, the sandbox's user namespace limits inotify instances, message
 * queues and queued signals, and the seccomp filter refuses asynchronous I/O.
 */
final class KernelObjectLimits {
  private static final Path INOTIFY = Path.of("/proc/sys/user/max_inotify_instances");

  /** Option of the steps that create a user namespace. */
  static final String LIMITED = "limited";

  private KernelObjectLimits() {}

  /**
   * Reports whether the kernel has the setting and this process can change it: in a container
   * {@code /proc/sys} is often read-only.
   */
  static boolean areEnforceable() {
    try {
      return Files.exists(INOTIFY)
          && !MountTable.of(ProcessHandle.current().pid()).isReadOnly(INOTIFY.toString());
    } catch (IOException unknown) {
      return false;
    }
  }
}
