package dev.isola.app;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A program that some provider uses.
 *
 * @param ask the argument that makes it say its version; empty when there is none
 * @param mark the word before the version that counts; empty for the first that it says
 * @param packages its name where that is not the command's; empty where there is no package
 * @param gives what is had with it and not without
 */
record Tool(
    String command,
    String ask,
    String mark,
    Map<Packages, String> packages,
    String gives,
    List<Flaw> flaws) {

  /** What runs sandboxes, then what makes their images, then what makes their networks. */
  static final List<Tool> ALL =
      List.of(
          tool("bwrap", "namespaces without a daemon (provider bubblewrap)")
              .packaged("bubblewrap")
              .with(Flaw.fixedIn("CVE-2020-5291", "0.4.1").ofSetuid())
              .with(Flaw.fixedIn("CVE-2026-41163", "0.11.2").since("0.11.0").ofSetuid()),
          tool("crun", "OCI containers, small and fast (provider oci)")
              .with(Flaw.fixedIn("CVE-2022-27650", "1.4.4")),
          tool("runc", "OCI containers, the reference (provider oci)")
              .with(Flaw.fixedIn("CVE-2024-21626", "1.1.12"))
              .with(
                  Flaw.fixedIn("CVE-2025-31133, CVE-2025-52565, CVE-2025-52881", "1.2.8", "1.3.3")),
          tool("runsc", "gVisor, a kernel of its own for each sandbox (provider oci)")
              .packagedOnlyBy(Packages.DEBIAN),
          tool("proot", "images without any privilege, without isolation (provider proot)"),
          tool("newuidmap", "more than one user in a sandbox without being root")
              .asked("")
              .packaged("uidmap")
              .packaged(Packages.FEDORA, "shadow-utils")
              .packaged(Packages.ALPINE, "shadow-subids")
              .packaged(Packages.ARCH, "shadow")
              .packaged(Packages.SUSE, "shadow"),
          tool("unshare", "namespaces to try things in, for this command").packaged("util-linux"),
          tool("skopeo", "images from registries")
              .with(Flaw.fixedIn("CVE-2024-3727", "1.14.4", "1.15.1")),
          tool("debootstrap", "images made of Debian's packages"),
          tool("mmdebstrap", "images made of Debian's packages, faster and without root"),
          tool("slirp4netns", "a network without being root")
              .marked("libslirp:")
              .with(Flaw.fixedIn("CVE-2021-3592 to CVE-2021-3595 of libslirp", "4.6.0")),
          tool("pasta", "a network without being root, faster than slirp4netns").packaged("passt"),
          tool("ip", "networks between sandboxes (bridge)")
              .asked("-V")
              .packaged("iproute2")
              .packaged(Packages.FEDORA, "iproute"),
          tool("nft", "rules for what a sandbox may reach").packaged("nftables"));

  Tool {
    packages = Map.copyOf(packages);
    flaws = List.copyOf(flaws);
  }

  private static Tool tool(String command, String gives) {
    return new Tool(command, "--version", "", Map.of(), gives, List.of()).packaged(command);
  }

  private Tool asked(String argument) {
    return new Tool(command, argument, mark, packages, gives, flaws);
  }

  private Tool marked(String word) {
    return new Tool(command, ask, word, packages, gives, flaws);
  }

  private Tool with(Flaw flaw) {
    List<Flaw> more = new ArrayList<>(flaws);
    more.add(flaw);
    return new Tool(command, ask, mark, packages, gives, more);
  }

  private Tool packaged(String name) {
    Map<Packages, String> names = new EnumMap<>(Packages.class);
    for (Packages packages : Packages.values()) {
      names.put(packages, name);
    }
    return new Tool(command, ask, mark, names, gives, flaws);
  }

  private Tool packaged(Packages by, String name) {
    Map<Packages, String> names = new EnumMap<>(packages);
    names.put(by, name);
    return new Tool(command, ask, mark, names, gives, flaws);
  }

  private Tool packagedOnlyBy(Packages by) {
    return new Tool(command, ask, mark, Map.of(by, command), gives, flaws);
  }

  String install(Packages system) {
    String name = packages.get(system);
    return name == null ? "install " + command + " as its project says" : system.install(name);
  }
}
