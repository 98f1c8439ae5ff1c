package dev.isola.host.network;

import dev.isola.host.network.AddressPool.AddressSlot;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Network path for root: a veth pair with one end in the sandbox; the kernel forwards packets with
 * the host's address. The host's end has no address and answers no ARP. Three mechanisms block
 * forbidden addresses: the host's nftables rules, routes inside, and the absence of a gateway.
 */
final class RoutedPath implements NetworkPath {
  private static final String NAME = "network mode bridge";
  private static final NetworkProgram IP = NetworkProgram.of("ip");
  private static final NetworkProgram TC = NetworkProgram.of("tc");
  private static final long MAX_PACKET_SIZE = 128 << 10;
  private static final String REMEDY =
      "install iproute2, nftables and util-linux, and run as root of the host or give the container"
          + " CAP_NET_ADMIN, CAP_SYS_ADMIN and a writable /proc/sys/net";
  private static final String FIREWALL_REMEDY =
      "accept forwarded packets from and to interfaces named isola-*: iptables -I FORWARD -i"
          + " isola-+ -j ACCEPT; iptables -I FORWARD -o isola-+ -j ACCEPT (with Docker in"
          + " DOCKER-USER instead of FORWARD)";

  private final InstanceId instance;
  private final NftRules rules;
  private volatile boolean limitsBandwidth;

  RoutedPath(InstanceId instance) {
    this.instance = instance;
    this.rules = new NftRules(instance);
  }

  @Override
  public Prerequisite probe() {
    List<String> missing = NetworkProgram.missing("ip", "nft", "unshare", "nsenter");
    if (!missing.isEmpty()) {
      return prerequisite(false, "not installed: " + String.join(", ", missing));
    }
    if (!IpForwarding.isWritable()) {
      return prerequisite(false, "/proc/sys/net cannot be written");
    }
    try {
      probeInNamespace();
      List<String> blocking = HostFirewall.blockingTables();
      if (!blocking.isEmpty()) {
        return new Prerequisite(
            NAME,
            false,
            false,
            "a firewall drops forwarded packets: table " + blocking,
            FIREWALL_REMEDY);
      }
      return prerequisite(
          true, limitsBandwidth ? "by veth, nftables and tc" : "by veth and nftables");
    } catch (IOException e) {
      return prerequisite(false, String.valueOf(e.getMessage()));
    }
  }

  /** Tries one of each operation in a temporary namespace. */
  private void probeInNamespace() throws IOException {
    NetworkProgram namespace = NetworkProgram.of("unshare", "--net");
    NetworkProgram.of("nft").startedBy(namespace).run(rules.text(List.of()), "-f", "-");
    IP.startedBy(namespace)
        .run(
            """
            link add name isola-2 group 5 type veth peer name eth0
            link set dev isola-2 addrgenmode none alias isola
            """,
            "-batch",
            "-");
    try {
      TC.startedBy(namespace).run("qdisc add dev lo " + shaper(1) + "\n", "-batch", "-");
      limitsBandwidth = true;
    } catch (IOException noShaper) {
      limitsBandwidth = false;
    }
  }

  private static Prerequisite prerequisite(boolean present, String detail) {
    return new Prerequisite(NAME, false, present, detail, present ? "" : REMEDY);
  }

  @Override
  public boolean limitsBandwidth() {
    return limitsBandwidth;
  }

  @Override
  public List<String> resolvers() throws IOException {
    return Resolvers.ofHost();
  }

  @Override
  public Attachment attach(SandboxId id, AgentProcess agent, int bandwidthMbps) throws IOException {
    List<String> resolvers = resolvers();
    AddressSlot slot = connect(id, agent, resolvers);
    Path settings = Path.of("/proc/sys/net/ipv4/conf", slot.link());
    Files.writeString(settings.resolve("forwarding"), "1");
    Files.writeString(settings.resolve("rp_filter"), "1");
    Files.writeString(settings.resolve("arp_ignore"), "1");
    NetworkProgram inside = NetworkProgram.of("nsenter", "--net=/proc/" + agent.pid() + "/ns/net");
    if (limitsBandwidth) {
      String shaper = shaper(bandwidthMbps);
      TC.run("qdisc add dev " + slot.link() + " " + shaper + "\n", "-batch", "-");
      TC.startedBy(inside).run("qdisc add dev eth0 " + shaper + "\n", "-batch", "-");
    }
    IP.startedBy(inside).run(insideBatch(slot, resolvers), "-batch", "-");
    return new Attachment(slot.address(), AddressPool.GATEWAY);
  }

  /** Creates the veth pair with the first free address. */
  private AddressSlot connect(SandboxId id, AgentProcess agent, List<String> resolvers)
      throws IOException {
    try (HostLock _ = HostLock.acquire()) {
      List<VethLink> links = removeLinks(id, VethLink.all());
      rules.apply(resolvers);
      IpForwarding.enable();
      IOException last = new IOException("no address is free in " + AddressPool.RANGE.text());
      for (AddressSlot slot :
          AddressPool.candidates(
              id, links.stream().map(VethLink::name).collect(Collectors.toSet()))) {
        try {
          IP.run(outsideBatch(id, slot, agent.pid()), "-batch", "-");
          return slot;
        } catch (IOException e) {
          removeLinks(id, VethLink.all());
          if (!String.valueOf(e.getMessage()).contains("File exists")) {
            throw e;
          }
          last = e;
        }
      }
      throw last;
    }
  }

  private String outsideBatch(SandboxId id, AddressSlot slot, long pid) {
    return """
    link add name %1$s group %2$s address %3$s type veth peer name eth0 address %4$s netns %5$d
    link set dev %1$s addrgenmode none alias %6$s
    link set dev %1$s up
    neigh add %7$s lladdr %4$s dev %1$s nud permanent
    route add %7$s/32 dev %1$s
    """
        .formatted(
            slot.link(),
            VethLink.group(instance),
            slot.hostMac(),
            slot.sandboxMac(),
            pid,
            VethLink.alias(instance, id),
            slot.address());
  }

  private static String insideBatch(AddressSlot slot, List<String> resolvers) throws IOException {
    StringBuilder batch =
        new StringBuilder(
            """
            link set lo up
            link set eth0 addrgenmode none
            addr add %1$s/32 dev eth0
            link set eth0 up
            neigh add %2$s lladdr %3$s dev eth0 nud permanent
            """
                .formatted(slot.address(), AddressPool.GATEWAY, slot.hostMac()));
    batch.append(BlockedRanges.prohibitRoutes());
    for (String resolver : resolvers) {
      if (BlockedRanges.contains(InetAddress.ofLiteral(resolver))) {
        batch.append(
            "route replace %s/32 via %s dev eth0 onlink\n"
                .formatted(resolver, AddressPool.GATEWAY));
      }
    }
    return batch
        .append("route replace default via " + AddressPool.GATEWAY + " dev eth0 onlink\n")
        .toString();
  }

  /** A bucket of 10 ms, but at least the largest packet of the kernel. */
  private static String shaper(int mbps) {
    return "root tbf rate %dmbit burst %d latency 100ms"
        .formatted(mbps, Math.max(MAX_PACKET_SIZE, mbps * 1250L));
  }

  @Override
  public void remove(SandboxId id) throws IOException {
    try (HostLock _ = HostLock.acquire()) {
      List<VethLink> left = removeLinks(id, VethLink.all());
      if (left.stream().noneMatch(link -> link.group().equals(VethLink.group(instance)))) {
        rules.remove();
      }
      if (left.isEmpty()) {
        IpForwarding.disable();
      }
    }
  }

  /**
   * Removes the interfaces of a sandbox and returns the others. An interface of this installation
   * without an alias was left behind by a crash, because the lock is held; it is removed as well.
   */
  private List<VethLink> removeLinks(SandboxId id, List<VethLink> links) throws IOException {
    List<VethLink> left = new ArrayList<>();
    for (VethLink link : links) {
      boolean half = link.alias().isEmpty() && link.group().equals(VethLink.group(instance));
      if (half || link.alias().equals(VethLink.alias(instance, id))) {
        remove(link);
      } else {
        left.add(link);
      }
    }
    return left;
  }

  /** The kernel may remove the interface concurrently, together with the sandbox's last process. */
  private static void remove(VethLink link) throws IOException {
    try {
      IP.run("", "link", "delete", "dev", link.name());
    } catch (IOException e) {
      if (VethLink.all().contains(link)) {
        throw e;
      }
    }
  }
}
