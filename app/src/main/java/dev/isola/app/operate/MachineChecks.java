package dev.isola.app.operate;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.ProviderReport;
import dev.isola.codec.proc.MemoryInfo;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.network.BridgeNetwork;
import dev.isola.link.MachineArchitecture;
import dev.isola.spi.LimitKind;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Checks the machine for {@code doctor}. No check changes anything or leaves anything behind. */
public final class MachineChecks {
  private static final long MEGABYTE = 1024 * 1024;
  private static final long MIN_DISK = 1024 * MEGABYTE;
  private static final long MIN_MEMORY = 512 * MEGABYTE;

  private MachineChecks() {}

  public static List<DoctorCheck> checks(DataFolder data) {
    List<DoctorCheck> checks = new ArrayList<>();
    checks.add(
        DoctorCheck.good(
            "kernel", System.getProperty("os.name") + " " + System.getProperty("os.version")));
    checks.add(architecture(System.getProperty("os.arch", "")));
    checks.add(DoctorCheck.good("user", user()));
    checks.add(
        DoctorCheck.good("java", Runtime.version() + " in " + System.getProperty("java.home")));
    ControlGroups groups = ControlGroups.ofHost();
    checks.add(cgroups(groups));
    checks.add(limits(groups));
    checks.add(freezing(groups));
    checks.add(KernelChecks.userNamespaces());
    checks.add(KernelChecks.overlay(statusLine("Uid:").equals("0")));
    checks.add(KernelChecks.idmappedMounts(System.getProperty("os.version")));
    checks.add(KernelChecks.seccomp());
    checks.add(network(data));
    checks.add(kvm());
    checks.add(memory(read(Path.of("/proc/meminfo"))));
    checks.add(dataFolder(data));
    checks.add(disk(data.path()));
    return checks;
  }

  static DoctorCheck architecture(String name) {
    return MachineArchitecture.find(name).isPresent()
        ? DoctorCheck.good("architecture", name)
        : DoctorCheck.bad(
            "architecture",
            name + " is not supported",
            "use a machine with one of: " + MachineArchitecture.supported());
  }

  private static String user() {
    String ids = statusLine("Uid:");
    return System.getProperty("user.name") + (ids.isEmpty() ? "" : " (uid " + ids + ")");
  }

  private static String statusLine(String key) {
    for (String line : read(Path.of("/proc/self/status")).lines().toList()) {
      if (line.startsWith(key)) {
        return line.substring(key.length()).strip().split("\\s+")[0];
      }
    }
    return "";
  }

  static DoctorCheck cgroups(ControlGroups cgroups) {
    Map<Integer, List<String>> names = new TreeMap<>();
    new TreeMap<>(cgroups.controllers())
        .forEach(
            (name, controller) ->
                names.computeIfAbsent(controller.version(), v -> new ArrayList<>()).add(name));
    List<String> parts = new ArrayList<>();
    names.forEach((version, list) -> parts.add("v" + version + ": " + String.join(" ", list)));
    String layout = ProviderReport.kebabCase(cgroups.layout());
    if (parts.isEmpty()) {
      return DoctorCheck.bad("cgroups", layout + ", no controllers", cgroups.remedy());
    }
    List<String> missing = new ArrayList<>();
    for (String needed : List.of("cpu", "memory", "pids")) {
      if (!cgroups.controllers().containsKey(needed)) {
        missing.add(needed);
      }
    }
    String value = layout + " (" + String.join("; ", parts) + ")";
    return missing.isEmpty()
        ? DoctorCheck.good("cgroups", value)
        : DoctorCheck.bad(
            "cgroups", value + ", without " + String.join(" ", missing), cgroups.remedy());
  }

  /** Reports the limits that were probed, because a hierarchy that exists may not be writable. */
  static DoctorCheck limits(ControlGroups groups) {
    List<String> enforced = new ArrayList<>();
    List<String> notEnforced = new ArrayList<>();
    for (LimitKind kind : List.of(LimitKind.MEMORY, LimitKind.CPU, LimitKind.THREADS)) {
      (groups.enforceable().contains(kind) ? enforced : notEnforced)
          .add(ProviderReport.kebabCase(kind));
    }
    if (notEnforced.isEmpty()) {
      return DoctorCheck.good("limits", String.join(", ", enforced));
    }
    String not = String.join(", ", notEnforced);
    String value =
        enforced.isEmpty() ? "none of " + not : String.join(", ", enforced) + "; not " + not;
    return DoctorCheck.bad("limits", value, groups.remedy());
  }

  static DoctorCheck freezing(ControlGroups groups) {
    return groups.canFreeze()
        ? DoctorCheck.good("freezing", "usable: a sandbox can be paused with its memory")
        : DoctorCheck.bad("freezing", "not available", groups.remedy());
  }

  /** Probes the network in its own namespaces, under the name of this installation. */
  private static DoctorCheck network(DataFolder data) {
    try {
      Prerequisite prerequisite = new BridgeNetwork(data.instance()).prerequisite();
      return new DoctorCheck(
          prerequisite.name(), prerequisite.present(), prerequisite.detail(), prerequisite.fix());
    } catch (SandboxException e) {
      return DoctorCheck.bad(
          "network mode bridge", "not tested: " + e.fault().problem(), e.fault().remedy());
    }
  }

  private static DoctorCheck kvm() {
    Path kvm = Path.of("/dev/kvm");
    if (!Files.exists(kvm)) {
      return DoctorCheck.bad(
          "/dev/kvm",
          "not found",
          "enable virtualization in the firmware (in a VM: nested virtualization) and modprobe"
              + " kvm_intel or kvm_amd; in a container, pass the device");
    }
    if (Files.isReadable(kvm) && Files.isWritable(kvm)) {
      return DoctorCheck.good(
          "/dev/kvm",
          "can be opened; the providers qemu and firecracker find out whether it works");
    }
    return DoctorCheck.bad("/dev/kvm", "permission denied", permission(kvm));
  }

  /** Suggests the group that owns the device or, if that is root's, a group for it. */
  static String permission(Path device) {
    try {
      String group = Files.readAttributes(device, PosixFileAttributes.class).group().getName();
      if (!group.equals("root")) {
        return "as root: usermod -aG " + group + " USER; then log in again";
      }
    } catch (IOException e) {
      // Fall through to the generic advice.
    }
    return "as root: groupadd -f kvm; chgrp kvm "
        + device
        + "; chmod 660 "
        + device
        + "; usermod -aG kvm USER; then log in again";
  }

  static DoctorCheck memory(String meminfo) {
    MemoryInfo memory = MemoryInfo.parse(meminfo);
    long total = memory.total().orElse(0);
    long available = memory.available().orElse(0);
    String value = size(available) + " available of " + size(total);
    return available < MIN_MEMORY
        ? DoctorCheck.bad(
            "memory", value, "stop other programs, or give sandboxes less memory (--memory)")
        : DoctorCheck.good("memory", value);
  }

  private static DoctorCheck dataFolder(DataFolder data) {
    try {
      return DoctorCheck.good("data folder", data.path() + " (instance " + data.instance() + ")");
    } catch (SandboxException e) {
      return DoctorCheck.bad("data folder", e.fault().problem(), e.fault().remedy());
    }
  }

  private static DoctorCheck disk(Path folder) {
    Path existing = folder;
    while (existing != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (existing == null) {
      return DoctorCheck.bad("disk", "unknown", "");
    }
    try {
      long free = Files.getFileStore(existing).getUsableSpace();
      String value = size(free) + " free in " + existing;
      return free < MIN_DISK
          ? DoctorCheck.bad(
              "disk", value, "free disk space, or choose another data folder with --data")
          : DoctorCheck.good("disk", value);
    } catch (IOException e) {
      return DoctorCheck.bad(
          "disk", IoErrors.describe(e), "choose another data folder with --data");
    }
  }

  private static String size(long bytes) {
    long megabytes = bytes / MEGABYTE;
    return megabytes < 10 * 1024 ? megabytes + " MB" : megabytes / 1024 + " GB";
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
