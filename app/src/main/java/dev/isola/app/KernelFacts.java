package dev.isola.app;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What of the kernel sandboxes are made of. Whatever is tried goes away with the try. */
final class KernelFacts {
  /**
   * With a lower folder that is idmapped, which images are; files and folders alone came sooner.
   */
  private static final Version IDMAPPED_OVERLAY = Version.of("5.19");

  private static final String OVERLAY =
      "mount -t tmpfs none /tmp && mkdir /tmp/l /tmp/u /tmp/w /tmp/m"
          + " && mount -t overlay -o lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w none /tmp/m";

  private KernelFacts() {}

  /** Tries one, because every system has its own switches; names the switch when it fails. */
  static Fact userNamespaces() {
    String name = "user namespaces";
    if (is("/proc/sys/user/max_user_namespaces", "0")) {
      return Fact.bad(
          name,
          "switched off (user.max_user_namespaces=0)",
          "sysctl -w user.max_user_namespaces=15000");
    }
    Optional<Probe> tried = Probe.run("unshare", "--user", "--map-root-user", "true");
    if (tried.isEmpty()) {
      return Fact.good(name, "not switched off (unshare is not installed, so not tried)");
    }
    boolean closed = is("/proc/sys/kernel/unprivileged_userns_clone", "0");
    boolean armored = is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1");
    if (tried.get().succeeded()) {
      return Fact.good(
          name, closed || armored ? "usable for " + System.getProperty("user.name") : "usable");
    }
    if (closed) {
      return Fact.bad(
          name,
          "for root only (kernel.unprivileged_userns_clone=0)",
          "sysctl -w kernel.unprivileged_userns_clone=1");
    }
    if (armored) {
      return Fact.bad(
          name,
          "restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)",
          "give isola and bwrap AppArmor profiles that allow userns, or sysctl -w"
              + " kernel.apparmor_restrict_unprivileged_userns=0");
    }
    return Fact.bad(
        name,
        "refused by the kernel or a container around us",
        "run outside the container, or allow the unshare call in its seccomp profile");
  }

  /** Mounts one in a mount namespace that ends with the command; a user needs a namespace more. */
  static Fact overlay(boolean root) {
    String name = "overlayfs";
    Optional<Probe> tried =
        root
            ? Probe.run("unshare", "--mount", "sh", "-c", OVERLAY)
            : Probe.run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", OVERLAY);
    if (tried.isPresent() && tried.get().succeeded()) {
      return Fact.good(name, root ? "usable" : "usable in a user namespace");
    }
    boolean known = Machine.read(Path.of("/proc/filesystems")).contains("\toverlay\n");
    if (tried.isEmpty()) {
      return known
          ? Fact.good(name, "in the kernel (unshare is not installed, so not tried)")
          : Fact.bad(name, "not in the kernel", "modprobe overlay");
    }
    if (!known) {
      return Fact.bad(name, "not in the kernel", "modprobe overlay");
    }
    return Fact.bad(
        name,
        "may not be mounted",
        root
            ? "run outside the container, or let it mount file systems"
            : "use kernel 5.11 or newer and allow user namespaces, or run as root");
  }

  static Fact idmappedMounts(String kernel) {
    String name = "idmapped mounts";
    Optional<Version> version = Version.find(kernel);
    if (version.isPresent() && version.get().atLeast(IDMAPPED_OVERLAY)) {
      return Fact.good(name, "beneath overlayfs too");
    }
    return Fact.bad(
        name,
        "not beneath overlayfs in kernel " + kernel,
        "use kernel " + IDMAPPED_OVERLAY + " or newer, else each sandbox copies its image");
  }

  static Fact seccomp() {
    String name = "seccomp";
    String actions = Machine.read(Path.of("/proc/sys/kernel/seccomp/actions_avail")).strip();
    if (List.of(actions.split("\\s+")).contains("errno")) {
      return Fact.good(name, "filters (" + actions + ")");
    }
    return Machine.read(Path.of("/proc/self/status")).contains("\nSeccomp:")
        ? Fact.good(name, "filters")
        : Fact.bad(name, "not in the kernel", "use a kernel with CONFIG_SECCOMP_FILTER");
  }

  private static boolean is(String file, String value) {
    return Machine.read(Path.of(file)).strip().equals(value);
  }
}
