package dev.isola.app.operate;

import dev.isola.host.program.Flaw;
import dev.isola.host.program.KnownFlaws;
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
 * @param flaws see {@link KnownFlaws}
 */
public record Tool(
    String command,
    String ask,
    String mark,
    Map<Packages, String> packages,
    String provider,
    String gives,
    List<Flaw> flaws) {

  /** What runs sandboxes, then what makes their images, then what makes their networks. */
  public static final List<Tool> ALL =
      List.of(
          tool("bwrap", "namespaces without a daemon").by("bubblewrap").packaged("bubblewrap"),
          tool("crun", "OCI containers, small and fast").by("crun"),
          tool("runc", "OCI containers, the reference").by("runc"),
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
          tool("podman", "containers without a daemon").by("docker"),
          tool("git", "a worktree for each sandbox").by("worktree"),
          tool("unshare", "doctor's tries, networks, debootstrap").packaged("util-linux"),
          tool("skopeo", "isola image pull from registries"),
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
          tool("slirp4netns", "network mode bridge without being root").marked("libslirp:"));

  public Tool {
    packages = Map.copyOf(packages);
    flaws = List.copyOf(flaws);
  }

  private static Tool tool(String command, String gives) {
    return new Tool(command, "--version", "", Map.of(), "", gives, KnownFlaws.of(command))
        .packaged(command);
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
