package dev.isola.app.operate;

import dev.isola.host.program.Version;
import dev.isola.link.local.UserNamespaces;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What of the kernel sandboxes are made of. Whatever is tried goes away with the try. */
final class KernelFacts {
  /** Plain folders came sooner, but an image is the lower folder of an overlay. */
  private static final Version IDMAPPED_OVERLAY = Version.of("5.19");

  private static final String OVERLAY =
      "mount -t tmpfs none /tmp && mkdir /tmp/l /tmp/u /tmp/w /tmp/m"
          + " && mount -t overlay -o lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w none /tmp/m";

  private static final String NOT_TRIED = "not tried, for unshare was not found";
  private static final String TO_TRY = "install unshare (util-linux) to have it tried";

  private KernelFacts() {}

  /** Tries one, because every system has its own switches; names the switch when it fails. */
  static Fact userNamespaces() {
    String name = "user namespaces";
    Optional<Probe> tried = Probe.run("unshare", "--user", "--map-root-user", "true");
    if (tried.isPresent() && tried.get().succeeded()) {
      return Fact.good(name, "usable");
    }
    UserNamespaces obstacle = UserNamespaces.obstacle();
    if (tried.isEmpty() && obstacle == UserNamespaces.REFUSED) {
      return Fact.warning(name, "not switched off; " + NOT_TRIED, TO_TRY);
    }
    return Fact.bad(name, obstacle.why(), obstacle.remedy());
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
          ? Fact.warning(name, "in the kernel; " + NOT_TRIED, TO_TRY)
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
            : "use kernel 5.11 or newer with user namespaces, or run as root");
  }

  static Fact idmappedMounts(String kernel) {
    String name = "idmapped mounts";
    Optional<Version> version = Version.find(kernel);
    if (version.isPresent() && version.get().atLeast(IDMAPPED_OVERLAY)) {
      return Fact.good(name, "in this kernel, beneath overlayfs too");
    }
    return Fact.bad(
        name,
        "not beneath overlayfs in kernel " + kernel,
        "use kernel " + IDMAPPED_OVERLAY + " or newer: before it, root's sandboxes take no image");
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
}
