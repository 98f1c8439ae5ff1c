package dev.isola.app.operate;

import dev.isola.host.program.Flaw;
import dev.isola.host.program.KnownFlaws;
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
 * @param backend whether it runs sandboxes: without a provider that declares it, it is of no use
 * @param gives what is had with it and not without
 * @param flaws see {@link KnownFlaws}
 */
public record Tool(
    String command,
    String ask,
    String mark,
    Map<Packages, String> packages,
    boolean backend,
    String gives,
    List<Flaw> flaws) {

  private static final String ASK = "--version";

  /** What runs sandboxes, then what makes their images, then what makes their networks. */
  public static final List<Tool> ALL =
      List.of(
          backend("bwrap", "namespaces without a daemon").packaged("bubblewrap"),
          backend("crun", "OCI containers, small and fast"),
          backend("runc", "OCI containers, the reference"),
          backend("runsc", "gVisor, a kernel of its own for each sandbox")
              .packagedOnlyBy(Packages.DEBIAN),
          backend("proot", "images without any privilege, without isolation"),
          // It tells the version of a client; holes are in the engine, which may be elsewhere.
          backend("docker", "containers of Docker's engine")
              .packaged("docker")
              .packaged(Packages.DEBIAN, "docker.io")
              .packaged(Packages.FEDORA, "moby-engine"),
          backend("podman", "containers without a daemon"),
          backend("git", "a worktree for each sandbox"),
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

  /**
   * Returns all of them, and the programs that only providers know.
   *
   * @param declared the programs of each provider, by its name
   */
  public static List<Tool> all(Map<String, List<String>> declared) {
    List<Tool> all = new ArrayList<>(ALL);
    declared.values().stream()
        .flatMap(List::stream)
        .distinct()
        .sorted()
        .filter(command -> ALL.stream().noneMatch(tool -> tool.command.equals(command)))
        .map(command -> new Tool(command, ASK, "", Map.of(), true, "sandboxes", List.of()))
        .forEach(all::add);
    return all;
  }

  private static Tool tool(String command, String gives) {
    return new Tool(command, ASK, "", Map.of(), false, gives, KnownFlaws.of(command))
        .packaged(command);
  }

  private static Tool backend(String command, String gives) {
    Tool tool = tool(command, gives);
    return new Tool(command, tool.ask, tool.mark, tool.packages, true, gives, tool.flaws);
  }

  private Tool asked(String argument) {
    return new Tool(command, argument, mark, packages, backend, gives, flaws);
  }

  private Tool marked(String word) {
    return new Tool(command, ask, word, packages, backend, gives, flaws);
  }

  private Tool packaged(String name) {
    Map<Packages, String> names = new EnumMap<>(Packages.class);
    for (Packages packages : Packages.values()) {
      names.put(packages, name);
    }
    return new Tool(command, ask, mark, names, backend, gives, flaws);
  }

  private Tool packaged(Packages by, String name) {
    Map<Packages, String> names = new EnumMap<>(packages);
    names.put(by, name);
    return new Tool(command, ask, mark, names, backend, gives, flaws);
  }

  private Tool packagedOnlyBy(Packages by) {
    return new Tool(command, ask, mark, Map.of(by, command), backend, gives, flaws);
  }

  String install(Packages system) {
    String name = packages.get(system);
    return name == null ? "install " + command + " as its project says" : system.install(name);
  }
}
