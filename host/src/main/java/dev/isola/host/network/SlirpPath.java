package dev.isola.host.network;

import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.UserNamespaceRestriction;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Network path without root: slirp4netns on the host receives the sandbox's packets from an
 * interface inside and forwards them through its own sockets. Routes inside block forbidden
 * addresses. Binding to the interface does not bypass them, because slirp4netns answers ARP only
 * for its own two addresses.
 */
final class SlirpPath implements NetworkPath {
  private static final String ADDRESS = "10.0.2.100";
  private static final String GATEWAY = "10.0.2.2";
  private static final String RESOLVER = "10.0.2.3";
  private static final Path TUN = Path.of("/dev/net/tun");

  private final InstanceId instance;

  SlirpPath(InstanceId instance) {
    this.instance = instance;
  }

  @Override
  public Prerequisite probe() {
    List<String> missing =
        NetworkProgram.missing("slirp4netns", "ip", "unshare", "nsenter", "setsid", "tail", "sh");
    if (!missing.isEmpty()) {
      return prerequisite(
          "not installed: " + String.join(", ", missing),
          "install slirp4netns, iproute2, util-linux and coreutils");
    }
    if (!Files.isReadable(TUN) || !Files.isWritable(TUN)) {
      return prerequisite(
          TUN + " cannot be opened",
          "as root: chgrp GROUP " + TUN + "; chmod 660 " + TUN + ", with a group of this user");
    }
    try {
      NetworkProgram.of("ip")
          .startedBy(NetworkProgram.of("unshare", "--user", "--map-root-user", "--net"))
          .run("", "tuntap", "add", "dev", "eth0", "mode", "tap");
      return new Prerequisite("network mode bridge", false, true, "by slirp4netns", "");
    } catch (IOException e) {
      return prerequisite(
          String.valueOf(e.getMessage()), UserNamespaceRestriction.detect().remedy());
    }
  }

  private static Prerequisite prerequisite(String detail, String fix) {
    return new Prerequisite("network mode bridge", false, false, detail, fix);
  }

  /** The kernel can shape traffic that leaves the sandbox, but not what slirp4netns delivers. */
  @Override
  public boolean limitsBandwidth() {
    return false;
  }

  /** slirp4netns forwards to the host's name server. */
  @Override
  public List<String> resolvers() {
    return List.of(RESOLVER);
  }

  @Override
  public Attachment attach(SandboxId id, AgentProcess agent, int bandwidthMbps) throws IOException {
    SlirpProcess slirp = new SlirpProcess(instance, id);
    slirp.stop();
    slirp.start(agent.pid());
    NetworkProgram.of("ip")
        .startedBy(
            NetworkProgram.of(
                "nsenter",
                "--preserve-credentials",
                "--user=/proc/" + agent.pid() + "/ns/user",
                "--net=/proc/" + agent.pid() + "/ns/net"))
        .run(
            """
            link set lo up
            link set eth0 addrgenmode none
            addr add %1$s/32 dev eth0
            link set eth0 mtu 65520 up
            %2$sroute replace %3$s/32 dev eth0 scope link
            route replace default via %4$s dev eth0 onlink
            """
                .formatted(ADDRESS, BlockedRanges.prohibitRoutes(), RESOLVER, GATEWAY),
            "-batch",
            "-");
    return new Attachment(ADDRESS, GATEWAY);
  }

  @Override
  public void remove(SandboxId id) throws IOException {
    new SlirpProcess(instance, id).stop();
  }
}
