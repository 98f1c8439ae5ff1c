package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroup;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The {@code /sys} of a sandbox: its control groups, which the JVM, Node.js and Go read to size
 * themselves, and the CPUs, which the C library counts there. Everything is read-only.
 */
final class SysfsView {
  private static final long KILOBYTES = 64;
  private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");

  private SysfsView() {}

  static void plan(LaunchPlan plan, ControlGroup group, SandboxUserIds users, double cores) {
    plan.step("tmpfs", "/sys", TmpfsOptions.of(KILOBYTES, users));
    group.views().forEach((inside, folder) -> plan.step("bind", folder.toString(), inside, "ro"));
    group.viewLinks().forEach((inside, target) -> plan.step("link", target, inside));
    if (Files.isReadable(PROCESSORS.resolve("online"))) {
      plan.step("bind", PROCESSORS.toString(), PROCESSORS.toString(), "ro");
      int shown = VisibleCpus.of(cores);
      if (shown < Runtime.getRuntime().availableProcessors()) {
        String online = shown == 1 ? "0\n" : "0-" + (shown - 1) + "\n";
        plan.step("file", PROCESSORS.resolve("online").toString(), online);
      }
    }
  }
}
