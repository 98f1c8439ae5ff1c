package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.LaunchPlan;
import java.nio.file.Path;

/**
 * The paths of a sandbox's files as its QEMU sees them. Under a server with root privileges QEMU
 * changes to a user that may not be allowed to enter the folders above them, so that it gets them
 * mounted elsewhere in a mount namespace of its own.
 *
 * @param data the provider's data folder
 * @param sandbox the sandbox's folder
 */
record HostPaths(Path data, Path sandbox, boolean mounted) {
  private static final Path SANDBOX = Path.of("/tmp/sandbox");
  private static final Path DATA = Path.of("/tmp/data");

  /** Adds the steps that mount the folders. */
  void plan(LaunchPlan plan) {
    if (mounted) {
      plan.step("stage");
      plan.step("beside", data.toString(), DATA.getFileName().toString(), "writable");
      plan.step("beside", sandbox.toString(), SANDBOX.getFileName().toString(), "writable");
    }
  }

  /** Returns where QEMU finds a file. */
  Path of(Path file) {
    if (!mounted) {
      return file;
    }
    if (file.startsWith(sandbox)) {
      return SANDBOX.resolve(sandbox.relativize(file));
    }
    return file.startsWith(data) ? DATA.resolve(data.relativize(file)) : file;
  }
}
