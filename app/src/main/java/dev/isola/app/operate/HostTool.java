package dev.isola.app.operate;

import dev.isola.host.program.KnownVulnerabilities;
import dev.isola.host.program.Vulnerability;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * An external program that Isola uses if it is installed.
 *
 * @param versionArgument argument that prints the version; empty if there is none
 * @param versionPrefix text before the relevant version; empty for the first version printed
 * @param packages package names; empty if the program is not packaged
 * @param backend whether it runs sandboxes, and is therefore useless unless a provider declares it
 * @param purpose what it enables
 * @param vulnerabilities see {@link KnownVulnerabilities}
 */
public record HostTool(
    String command,
    String versionArgument,
    String versionPrefix,
    Map<Distribution, String> packages,
    boolean backend,
    String purpose,
    List<Vulnerability> vulnerabilities) {

  private static final String VERSION_ARGUMENT = "--version";

  /** Programs that run sandboxes, then programs for images, then programs for networks. */
  public static final List<HostTool> ALL =
      List.of(
          backend("bwrap", "namespaces without a daemon").packaged("bubblewrap"),
          backend("crun", "OCI containers; lightweight runtime"),
          backend("runc", "OCI containers; reference runtime"),
          backend("runsc", "gVisor: a separate kernel for each sandbox")
              .packagedOnlyBy(Distribution.DEBIAN),
          backend("firecracker", "virtual machines with KVM").unpackaged(),
          backend("proot", "images without privileges, without isolation"),
          // --version prints the client's version, but flaws are in the engine, which may run
          // elsewhere.
          backend("docker", "containers run by Docker Engine")
              .packaged("docker")
              .packaged(Distribution.DEBIAN, "docker.io")
              .packaged(Distribution.FEDORA, "moby-engine"),
          backend("podman", "containers without a daemon"),
          backend("git", "a worktree for each sandbox"),
          backend(
                  "microvmctl",
                  "sandboxes by the local_microvm contract; comes with Isola, beside its command")
              .withVersionArgument("")
              .unpackaged(),
          tool("ssh", "provider microvmctl on another machine")
              .withVersionArgument("-V")
              .packaged("openssh")
              .packaged(Distribution.DEBIAN, "openssh-client")
              .packaged(Distribution.FEDORA, "openssh-clients"),
          tool("unshare", "probes of isola doctor, networks, debootstrap").packaged("util-linux"),
          tool("skopeo", "isola image pull from registries"),
          tool("mmdebstrap", "isola image build"),
          tool("newuidmap", "isola image build without root")
              .withVersionArgument("")
              .packaged("uidmap")
              .packaged(Distribution.FEDORA, "shadow-utils")
              .packaged(Distribution.ALPINE, "shadow-subids")
              .packaged(Distribution.ARCH, "shadow")
              .packaged(Distribution.SUSE, "shadow"),
          tool("debootstrap", "isola image build as root without mmdebstrap"),
          tool("zstd", "images from archives compressed with zstd"),
          tool("xz", "images from archives compressed with xz")
              .packaged("xz")
              .packaged(Distribution.DEBIAN, "xz-utils"),
          tool("ip", "network mode bridge")
              .withVersionArgument("-V")
              .packaged("iproute2")
              .packaged(Distribution.FEDORA, "iproute"),
          tool("tc", "bandwidth limits")
              .withVersionArgument("-V")
              .packaged("iproute2")
              .packaged(Distribution.FEDORA, "iproute-tc"),
          tool("nft", "network mode bridge as root").packaged("nftables"),
          tool("nsenter", "network mode bridge").packaged("util-linux"),
          tool("slirp4netns", "network mode bridge without root").withVersionPrefix("libslirp:"));

  public HostTool {
    packages = Map.copyOf(packages);
    vulnerabilities = List.copyOf(vulnerabilities);
  }

  /**
   * Returns all tools, including programs that only providers declare.
   *
   * @param declared programs of each provider, by provider name
   */
  public static List<HostTool> all(Map<String, List<String>> declared) {
    List<HostTool> all = new ArrayList<>(ALL);
    declared.values().stream()
        .flatMap(List::stream)
        .distinct()
        .sorted()
        .filter(command -> ALL.stream().noneMatch(tool -> tool.command.equals(command)))
        .map(
            command ->
                new HostTool(command, VERSION_ARGUMENT, "", Map.of(), true, "sandboxes", List.of()))
        .forEach(all::add);
    return all;
  }

  private static HostTool tool(String command, String gives) {
    return new HostTool(
            command, VERSION_ARGUMENT, "", Map.of(), false, gives, KnownVulnerabilities.of(command))
        .packaged(command);
  }

  private static HostTool backend(String command, String gives) {
    HostTool tool = tool(command, gives);
    return new HostTool(
        command,
        tool.versionArgument,
        tool.versionPrefix,
        tool.packages,
        true,
        gives,
        tool.vulnerabilities);
  }

  private HostTool withVersionArgument(String argument) {
    return new HostTool(
        command, argument, versionPrefix, packages, backend, purpose, vulnerabilities);
  }

  private HostTool withVersionPrefix(String word) {
    return new HostTool(
        command, versionArgument, word, packages, backend, purpose, vulnerabilities);
  }

  private HostTool packaged(String name) {
    Map<Distribution, String> names = new EnumMap<>(Distribution.class);
    for (Distribution packages : Distribution.values()) {
      names.put(packages, name);
    }
    return new HostTool(
        command, versionArgument, versionPrefix, names, backend, purpose, vulnerabilities);
  }

  private HostTool packaged(Distribution by, String name) {
    Map<Distribution, String> names = new EnumMap<>(packages);
    names.put(by, name);
    return new HostTool(
        command, versionArgument, versionPrefix, names, backend, purpose, vulnerabilities);
  }

  private HostTool packagedOnlyBy(Distribution by) {
    return new HostTool(
        command,
        versionArgument,
        versionPrefix,
        Map.of(by, command),
        backend,
        purpose,
        vulnerabilities);
  }

  private HostTool unpackaged() {
    return new HostTool(
        command, versionArgument, versionPrefix, Map.of(), backend, purpose, vulnerabilities);
  }

  String installCommand(Distribution system) {
    String name = packages.get(system);
    return name == null
        ? "install " + command + " as documented by its project"
        : system.installCommand(name);
  }
}
