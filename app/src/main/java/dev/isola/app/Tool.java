package dev.isola.app;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A program that is used where it is there.
 *
 * @param ask the argument that makes it say its version; empty when there is none
 * @param mark the word before the version that counts; empty for the first that it says
 * @param packages its name where that is not the command's; empty where there is no package
 * @param provider the one that is nothing without it; empty when several do with or without it
 * @param gives what is had with it and not without
 * @param flaws those that let a sandbox, an image or another user get at the host; the one closed
 *     last comes last
 */
record Tool(
    String command,
    String ask,
    String mark,
    Map<Packages, String> packages,
    String provider,
    String gives,
    List<Flaw> flaws) {

  /** What runs sandboxes, then what makes their images, then what makes their networks. */
  static final List<Tool> ALL =
      List.of(
          tool("bwrap", "namespaces without a daemon")
              .by("bubblewrap")
              .packaged("bubblewrap")
              .with(Flaw.fixedIn("CVE-2020-5291", "0.4.1").ofSetuid())
              .with(Flaw.fixedIn("CVE-2026-41163", "0.11.2").since("0.11.0").ofSetuid())
              .with(Flaw.fixedIn("CVE-2026-87766", "0.12.0")),
          tool("crun", "OCI containers, small and fast")
              .by("crun")
              .with(Flaw.fixedIn("CVE-2022-27650", "1.4.4"))
              .with(Flaw.fixedIn(List.of("CVE-2026-88264", "CVE-2026-88265"), "1.30")),
          tool("runc", "OCI containers, the reference")
              .by("runc")
              .with(Flaw.fixedIn("CVE-2024-21626", "1.1.12"))
              .with(
                  Flaw.fixedIn(
                      List.of("CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"),
                      "1.2.8",
                      "1.3.3"))
              .with(Flaw.fixedIn("CVE-2026-41579", "1.3.6", "1.4.3")),
          tool("runsc", "gVisor, a kernel of its own for each sandbox")
              .by("gvisor")
              .packagedOnlyBy(Packages.DEBIAN),
          tool("proot", "images without any privilege, without isolation").by("proot"),
          // It tells the version of a client; holes are in the engine, which may be elsewhere.
          tool("docker", "containers of Docker's engine")
              .by("docker")
              .packaged("docker")
              .packaged(Packages.DEBIAN, "docker.io")
              .packaged(Packages.FEDORA, "moby-engine"),
          tool("podman", "containers without a daemon")
              .by("docker")
              .with(Flaw.fixedIn("CVE-2026-55686", "5.7.1").since("3.0.0")),
          tool("git", "a worktree for each sandbox").by("worktree"),
          tool("unshare", "doctor's tries, networks, debootstrap").packaged("util-linux"),
          tool("skopeo", "isola image pull from registries")
              .with(Flaw.fixedIn("CVE-2024-3727", "1.14.4", "1.15.1")),
          tool("mmdebstrap", "isola image build"),
          tool("newuidmap", "isola image build without being root")
              .asked("")
              .packaged("uidmap")
              .packaged(Packages.FEDORA, "shadow-utils")
              .packaged(Packages.ALPINE, "shadow-subids")
              .packaged(Packages.ARCH, "shadow")
              .packaged(Packages.SUSE, "shadow"),
          tool("debootstrap", "isola image build as root where mmdebstrap is not"),
          tool("zstd", "images from archives packed by zstd"),
          tool("xz", "images from archives packed by xz")
              .packaged("xz")
              .packaged(Packages.DEBIAN, "xz-utils"),
          tool("ip", "network mode bridge")
              .asked("-V")
              .packaged("iproute2")
              .packaged(Packages.FEDORA, "iproute"),
          tool("tc", "limits of bandwidth")
              .asked("-V")
              .packaged("iproute2")
              .packaged(Packages.FEDORA, "iproute-tc"),
          tool("nft", "network mode bridge as root").packaged("nftables"),
          tool("nsenter", "network mode bridge").packaged("util-linux"),
          tool("slirp4netns", "network mode bridge without being root")
              .marked("libslirp:")
              .with(
                  Flaw.fixedIn(
                      List.of("CVE-2021-3592", "CVE-2021-3593", "CVE-2021-3594", "CVE-2021-3595"),
                      "4.6.0")));

  Tool {
    packages = Map.copyOf(packages);
    flaws = List.copyOf(flaws);
  }

  private static Tool tool(String command, String gives) {
    return new Tool(command, "--version", "", Map.of(), "", gives, List.of()).packaged(command);
  }

  private Tool by(String name) {
    return new Tool(command, ask, mark, packages, name, gives, flaws);
  }

  private Tool asked(String argument) {
    return new Tool(command, argument, mark, packages, provider, gives, flaws);
  }

  private Tool marked(String word) {
    return new Tool(command, ask, word, packages, provider, gives, flaws);
  }

  private Tool with(Flaw flaw) {
    List<Flaw> more = new ArrayList<>(flaws);
    more.add(flaw);
    return new Tool(command, ask, mark, packages, provider, gives, more);
  }

  private Tool packaged(String name) {
    Map<Packages, String> names = new EnumMap<>(Packages.class);
    for (Packages packages : Packages.values()) {
      names.put(packages, name);
    }
    return new Tool(command, ask, mark, names, provider, gives, flaws);
  }

  private Tool packaged(Packages by, String name) {
    Map<Packages, String> names = new EnumMap<>(packages);
    names.put(by, name);
    return new Tool(command, ask, mark, names, provider, gives, flaws);
  }

  private Tool packagedOnlyBy(Packages by) {
    return new Tool(command, ask, mark, Map.of(by, command), provider, gives, flaws);
  }

  String install(Packages system) {
    String name = packages.get(system);
    return name == null ? "install " + command + " as its project says" : system.install(name);
  }
}
