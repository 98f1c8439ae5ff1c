package dev.isola.app.operate;

import dev.isola.host.program.Version;
import dev.isola.link.local.UserNamespaceRestriction;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Checks kernel features that sandboxes need. Probes leave nothing behind. */
final class KernelChecks {
  /**
   * Earlier kernels support idmapped mounts, but not as the lower layer of an overlay, which is how
   * images are mounted.
   */
  private static final Version IDMAPPED_OVERLAY = Version.of("5.19");

  private static final String OVERLAY =
      "mount -t tmpfs none /tmp && mkdir /tmp/l /tmp/u /tmp/w /tmp/m"
          + " && mount -t overlay -o lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w none /tmp/m";

  private static final String NOT_TESTED = "not tested: unshare was not found";
  private static final String TO_TEST = "install unshare (util-linux) to test it";

  private KernelChecks() {}

  /**
   * Creates a user namespace, because distributions restrict them in different ways. On failure,
   * names the restriction.
   */
  static DoctorCheck userNamespaces() {
    String name = "user namespaces";
    Optional<ProgramProbe> probe = ProgramProbe.run("unshare", "--user", "--map-root-user", "true");
    if (probe.isPresent() && probe.get().succeeded()) {
      return DoctorCheck.good(name, "usable");
    }
    UserNamespaceRestriction obstacle = UserNamespaceRestriction.detect();
    if (probe.isEmpty() && obstacle == UserNamespaceRestriction.UNKNOWN) {
      return DoctorCheck.warning(name, "not disabled; " + NOT_TESTED, TO_TEST);
    }
    return DoctorCheck.bad(name, obstacle.reason(), obstacle.remedy());
  }

  /** Mounts an overlay in a temporary mount namespace; without root also in a user namespace. */
  static DoctorCheck overlay(boolean root) {
    String name = "overlayfs";
    Optional<ProgramProbe> probe =
        root
            ? ProgramProbe.run("unshare", "--mount", "sh", "-c", OVERLAY)
            : ProgramProbe.run(
                "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", OVERLAY);
    if (probe.isPresent() && probe.get().succeeded()) {
      return DoctorCheck.good(name, root ? "usable" : "usable in a user namespace");
    }
    boolean supported = MachineChecks.read(Path.of("/proc/filesystems")).contains("\toverlay\n");
    if (probe.isEmpty()) {
      return supported
          ? DoctorCheck.warning(name, "supported by the kernel; " + NOT_TESTED, TO_TEST)
          : DoctorCheck.bad(name, "not supported by the kernel", "modprobe overlay");
    }
    if (!supported) {
      return DoctorCheck.bad(name, "not supported by the kernel", "modprobe overlay");
    }
    return DoctorCheck.bad(
        name,
        "mounting is not permitted",
        root
            ? "run outside of the container, or allow it to mount file systems"
            : "use kernel 5.11 or newer with user namespaces, or run as root");
  }

  static DoctorCheck idmappedMounts(String kernel) {
    String name = "idmapped mounts";
    Optional<Version> version = Version.find(kernel);
    if (version.isPresent() && version.get().atLeast(IDMAPPED_OVERLAY)) {
      return DoctorCheck.good(name, "supported, also below overlayfs");
    }
    return DoctorCheck.bad(
        name,
        "not supported below overlayfs by kernel " + kernel,
        "use kernel "
            + IDMAPPED_OVERLAY
            + " or newer; with older kernels, sandboxes created by root cannot use images");
  }

  static DoctorCheck seccomp() {
    String name = "seccomp";
    String actions = MachineChecks.read(Path.of("/proc/sys/kernel/seccomp/actions_avail")).strip();
    if (List.of(actions.split("\\s+")).contains("errno")) {
      return DoctorCheck.good(name, "filters (" + actions + ")");
    }
    return MachineChecks.read(Path.of("/proc/self/status")).contains("\nSeccomp:")
        ? DoctorCheck.good(name, "filters")
        : DoctorCheck.bad(
            name, "not supported by the kernel", "use a kernel with CONFIG_SECCOMP_FILTER");
  }
}
