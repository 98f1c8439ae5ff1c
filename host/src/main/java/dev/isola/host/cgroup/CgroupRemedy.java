package dev.isola.host.cgroup;

import dev.isola.host.cgroup.ControlGroups.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** Advice for the operator of a host on which not everything can be limited. */
final class CgroupRemedy {
  private CgroupRemedy() {}

  static String of(ControlGroups groups, boolean root) {
    if (groups.layout() == Layout.NONE) {
      return "mount the cgroup file system at /sys/fs/cgroup";
    }
    if (groups.hierarchies().stream()
        .filter(Hierarchy::isUsable)
        .allMatch(CgroupRemedy::readOnly)) {
      return "the cgroup file system is mounted read-only: give the container a writable"
          + " /sys/fs/cgroup (with a private cgroup namespace, or --privileged)";
    }
    List<String> missing =
        CgroupProbe.KINDS.stream()
            .map(CgroupSetting::controller)
            .filter(name -> !groups.controllers().containsKey(name))
            .sorted()
            .toList();
    if (root) {
      if (missing.contains("memory")) {
        return "boot with cgroup_enable=memory and, with systemd, delegate the controller"
            + " (Delegate=yes)";
      }
      return missing.isEmpty()
          ? "run outside the container, or give the container its own cgroups"
          : "delegate the controllers "
              + String.join(", ", missing)
              + " (systemd: Delegate=yes), or use a kernel that has them";
    }
    boolean version1 =
        groups.controllers().values().stream().anyMatch(controller -> controller.version() == 1);
    return version1
        ? "run as root, or boot with systemd.unified_cgroup_hierarchy=1: cgroup version 1 cannot be"
            + " delegated to a user"
        : "run in a delegated cgroup: systemd-run --user --scope -p Delegate=yes isola ...";
  }

  private static boolean readOnly(Hierarchy hierarchy) {
    try {
      return Files.getFileStore(hierarchy.mount()).isReadOnly();
    } catch (IOException e) {
      return false;
    }
  }
}
