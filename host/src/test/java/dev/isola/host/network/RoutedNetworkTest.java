package dev.isola.host.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.host.network.NetworkTestbed.InstallationNetwork;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Network mode bridge as root, on a simulated host. */
class RoutedNetworkTest {
  @TempDir static Path folder;
  private static NetworkTestbed lab;
  private static InstallationNetwork network;
  private String before = "";
  private final SandboxId id = NetworkTestbed.id();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    lab = new NetworkTestbed(folder, true);
    network = lab.network(NetworkTestbed.instance());
    lab.keep();
  }

  @AfterAll
  static void end() throws IOException {
    if (lab != null) {
      lab.close();
    }
  }

  @BeforeEach
  void look() throws IOException, InterruptedException {
    before = lab.inventory();
  }

  @AfterEach
  void reset() throws IOException, InterruptedException {
    lab.reset();
  }

  private static List<String> on(String port, List<String> addresses) {
    return addresses.stream().map(address -> address + port).toList();
  }

  @Test
  void whatIsFarIsReachedAndWhatIsNearIsNot() throws IOException, InterruptedException {
    assertThat(network.request("find")).isEqualTo("ok by veth, nftables and tc; limits");
    assertThat(network.request("resolvers")).isEqualTo("ok nameserver " + NetworkTestbed.RESOLVER);
    TestNamespace sandbox = lab.sandbox();
    TestNamespace other = lab.sandbox();
    String address = network.attach(id, sandbox, 100);
    String neighbour = network.attach(NetworkTestbed.id(), other, 100);
    lab.serve(other);

    assertThat(sandbox.sh("ip -6 addr show dev eth0; ip -6 route show dev eth0")).isEmpty();
    String resolver = NetworkTestbed.RESOLVER;
    List<String> allowed =
        List.of(NetworkTestbed.PUBLIC + ":8000", resolver + ":53", resolver + ":53:udp");
    assertThat(lab.dial(sandbox, allowed))
        .hasSize(3)
        .allSatisfy((target, said) -> assertThat(said).isEqualTo("from " + NetworkTestbed.HOST));

    List<String> addresses = new ArrayList<>(NetworkTestbed.PRIVATE);
    addresses.addAll(
        List.of(
            NetworkTestbed.HOST,
            NetworkTestbed.SECOND_HOST,
            resolver,
            neighbour,
            AddressPool.GATEWAY));
    List<String> refused = new ArrayList<>(on(":8000", addresses));
    assertThat(lab.probe(sandbox, refused))
        .hasSize(addresses.size())
        .allSatisfy((target, said) -> assertThat(said).startsWith("no: "));
    // Binding to an interface bypasses routes.
    assertThat(lab.probe(sandbox, on(":8000:eth0", addresses)))
        .hasSize(addresses.size())
        .allSatisfy((target, said) -> assertThat(said).startsWith("no: "));
    assertThat(lab.probe(sandbox, "169.254.169.254:53")).startsWith("no: ");
    lab.serve(sandbox);
    assertThat(lab.probe(lab.internet, address + ":8000")).startsWith("no: ");

    // Each mechanism suffices alone: first only the rules, ...
    refused.remove(AddressPool.GATEWAY + ":8000");
    sandbox.sh("ip route flush type prohibit");
    assertThat(lab.probe(sandbox, refused))
        .allSatisfy((target, said) -> assertThat(said).startsWith("no: "));
    // ... and without both everything is reachable, also from outside.
    lab.host.sh("nft flush ruleset");
    other.sh("ip route flush type prohibit");
    assertThat(lab.dial(sandbox, refused))
        .hasSize(refused.size())
        .allSatisfy((target, said) -> assertThat(said).isEqualTo("from " + address));
    assertThat(lab.dial(lab.internet, address + ":8000")).startsWith("from ");

    // ... then only the routes, as after a reload of the host's firewall. Routes do not distinguish
    // ports.
    refused.remove(resolver + ":8000");
    addresses.remove(resolver);
    network.attach(id, sandbox, 100);
    lab.host.sh("nft flush ruleset");
    assertThat(lab.probe(sandbox, refused))
        .allSatisfy((target, said) -> assertThat(said).startsWith("no: "));
    assertThat(lab.probe(sandbox, on(":8000:eth0", addresses)))
        .allSatisfy((target, said) -> assertThat(said).startsWith("no: "));
  }

  @Test
  void removeLeavesNothing() throws IOException, InterruptedException {
    SandboxId second = NetworkTestbed.id();
    network.attach(id, lab.sandbox(), 100);
    network.attach(second, lab.sandbox(), 100);
    assertThat(lab.inventory()).contains("isola-" + network.instance()).isNotEqualTo(before);
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(lab.inventory()).contains("isola-" + network.instance());
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    assertThat(network.request("remove " + NetworkTestbed.id())).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  @Test
  void callerThatIsInterruptedGetsAllOrNothing() throws IOException, InterruptedException {
    assertThat(network.request("interrupt attach " + id + " " + lab.sandbox().pid() + " 100"))
        .startsWith("ok 198.19.")
        .endsWith(", interrupted");
    assertThat(network.request("interrupt remove " + id)).isEqualTo("ok, interrupted");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  @Test
  void interfaceEndsWithTheSandbox() throws IOException, InterruptedException {
    InstallationNetwork dying = lab.network(network.instance());
    TestNamespace sandbox = lab.sandbox();
    dying.attach(id, sandbox, 100);
    dying.kill();
    assertThat(lab.host.sh("ip -o link")).contains("isola-");
    sandbox.close();
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(lab.host.sh("ip -o link")).doesNotContain("isola-"));
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  /** Kills the process at its start, after the first change, and so on. */
  @Test
  void removeLeavesNothingOfAnAttachThatWasKilled() throws IOException, InterruptedException {
    TestNamespace sandbox = lab.sandbox();
    for (String sign : List.of("", "table inet isola-", "eth0/forwarding:1", " isola-\\d+@")) {
      InstallationNetwork killed = lab.network(network.instance());
      killed.send("attach " + id + " " + sandbox.pid() + " 100");
      await()
          .atMost(Duration.ofSeconds(10))
          .pollInterval(Duration.ofMillis(1))
          .untilAsserted(() -> assertThat(lab.inventory()).containsPattern(sign));
      killed.kill();
      assertThat(network.request("remove " + id)).isEqualTo("ok");
      assertThat(lab.inventory()).isEqualTo(before);
    }
  }

  @Test
  void halfAnInterfaceIsRemovedByWhoComesNext() throws IOException, InterruptedException {
    String group = VethLink.group(new dev.isola.spi.InstanceId(network.instance()));
    lab.host.sh("ip link add name isola-77 group " + group + " type veth peer name x");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    lab.host.sh("ip link add name isola-77 group 5 type veth peer name x");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(lab.inventory()).as("of another installation").contains("isola-77");
  }

  @Test
  void installationsDoNotMeet() throws IOException, InterruptedException {
    InstallationNetwork neighbour = lab.network(NetworkTestbed.instance());
    List<TestNamespace> sandboxes =
        List.of(lab.sandbox(), lab.sandbox(), lab.sandbox(), lab.sandbox());
    // The same id prefers the same address.
    network.send("attach " + id + " " + sandboxes.get(0).pid() + " 100");
    neighbour.send("attach " + id + " " + sandboxes.get(1).pid() + " 100");
    SandboxId second = NetworkTestbed.id();
    neighbour.send("attach " + second + " " + sandboxes.get(2).pid() + " 100");
    network.send("attach " + second + " " + sandboxes.get(3).pid() + " 100");
    List<String> answers =
        List.of(network.answer(), neighbour.answer(), neighbour.answer(), network.answer());
    assertThat(answers)
        .doesNotHaveDuplicates()
        .allSatisfy(answer -> assertThat(answer).startsWith("ok 198.19."));

    lab.serve(sandboxes.get(1));
    String theirs = answers.get(1).split(" ")[1];
    assertThat(lab.probe(sandboxes.get(0), theirs + ":8000")).startsWith("no: ");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    Map<String, String> still =
        lab.dial(sandboxes.get(1), List.of(NetworkTestbed.PUBLIC + ":8000", "10.9.9.9:8000"));
    assertThat(still.get(NetworkTestbed.PUBLIC + ":8000")).isEqualTo("from " + NetworkTestbed.HOST);
    assertThat(still.get("10.9.9.9:8000")).startsWith("no: ");
    assertThat(neighbour.request("remove " + id)).isEqualTo("ok");
    assertThat(neighbour.request("remove " + second)).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  /** Forwarding for sandboxes must not turn the host into a router for others. */
  @Test
  void strangersDoNotPassThroughTheHost() throws IOException, InterruptedException {
    TestNamespace stranger = lab.sandbox();
    lab.host.sh(
        "ip link add inner type veth peer name eth0 netns %d; ip addr add 192.0.2.129/25 dev inner; ip link set inner addrgenmode none up"
            .formatted(stranger.pid()));
    stranger.sh(
        "ip link set lo up; ip addr add 192.0.2.130/25 dev eth0; ip link set eth0 addrgenmode none up; ip route add default via 192.0.2.129");
    lab.serve(stranger);
    before = lab.inventory();
    String behind = "192.0.2.130:8000";
    assertThat(lab.probe(lab.internet, behind)).startsWith("no: ");
    network.attach(id, lab.sandbox(), 100);
    assertThat(lab.inventory()).contains("eth0/forwarding:1", "all/forwarding:0");
    assertThat(lab.probe(lab.internet, behind)).startsWith("no: ");
    lab.host.sh("nft delete table inet isola-forwarding");
    assertThat(lab.dial(lab.internet, behind)).startsWith("from ");

    // Packets that another program translates still pass.
    network.request("remove " + id);
    lab.host.sh("for f in eth0 inner; do echo 0 >/proc/sys/net/ipv4/conf/$f/forwarding; done");
    network.attach(id, lab.sandbox(), 100);
    lab.host.sh(
        "nft 'table ip other { chain pre { type nat hook prerouting priority dstnat; tcp dport 9000 dnat to "
            + behind
            + "; }; }'");
    assertThat(lab.dial(lab.internet, NetworkTestbed.HOST + ":9000")).startsWith("from ");
    assertThat(lab.probe(lab.internet, behind)).startsWith("no: ");
    lab.host.sh("nft delete table ip other");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  @Test
  void hostThatForwardsGoesOnDoingSo() throws IOException, InterruptedException {
    lab.host.sh("echo 1 >/proc/sys/net/ipv4/ip_forward");
    before = lab.inventory();
    TestNamespace sandbox = lab.sandbox();
    network.attach(id, sandbox, 100);
    assertThat(lab.inventory()).doesNotContain("isola-forwarding");
    assertThat(lab.dial(sandbox, NetworkTestbed.PUBLIC + ":8000")).startsWith("from ");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  @Test
  void firewallInTheWayIsNamed() throws IOException, InterruptedException {
    lab.host.sh(
        "nft 'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }'");
    assertThat(lab.network(NetworkTestbed.instance()).request("find"))
        .startsWith("missing a firewall drops forwarded packets: table [ip filter]; accept");
    lab.host.sh("nft 'add rule ip filter FORWARD iifname \"isola-*\" accept'");
    assertThat(lab.network(NetworkTestbed.instance()).request("find")).startsWith("ok ");
  }

  @Test
  void bandwidthIsHeldToItsLimitBothWays() throws IOException, InterruptedException {
    assertThat(network.request("find")).endsWith("limits");
    TestNamespace slow = lab.sandbox();
    TestNamespace fast = lab.sandbox();
    network.attach(id, slow, 8);
    network.attach(NetworkTestbed.id(), fast, 1000);
    for (String way : List.of("get", "put")) {
      long took = NetworkTestbed.transfer(slow, way);
      assertThat(took).as("750 kB at 8 Mbit/s, " + way).isGreaterThan(500);
      assertThat(NetworkTestbed.transfer(fast, way)).isLessThan(took);
    }
  }

  @Test
  void connectionsOfASandboxAreBounded() throws IOException, InterruptedException {
    TestNamespace sandbox = lab.sandbox();
    network.attach(id, sandbox, 100);
    assertThat(NetworkTestbed.countConnections(sandbox)).isBetween(4000, 4096);
    // Another sandbox has its own count, and attaching it does not reset the first.
    TestNamespace other = lab.sandbox();
    network.attach(NetworkTestbed.id(), other, 100);
    assertThat(NetworkTestbed.countConnections(sandbox)).isLessThan(50);
    assertThat(lab.dial(other, NetworkTestbed.RESOLVER + ":53:udp")).startsWith("from ");
  }

  @Test
  void hostItselfIsNoSandbox() throws IOException, InterruptedException {
    assertThat(network.request("attach " + id + " " + lab.host.pid() + " 100"))
        .contains("is in the network namespace of the host");
    TestNamespace sandbox = lab.sandbox();
    sandbox.close();
    assertThat(network.request("attach " + id + " " + sandbox.pid() + " 100"))
        .contains("no network for sandbox " + id + ": its agent has ended");
    assertThat(lab.inventory()).isEqualTo(before);
  }

  @Test
  void takenNetworksAreLeftAlone() throws IOException, InterruptedException {
    lab.host.sh("ip route add 198.19.0.0/17 dev eth0");
    for (int i = 0; i < 3; i++) {
      String address = network.attach(NetworkTestbed.id(), lab.sandbox(), 100);
      assertThat(Integer.parseInt(address.split("\\.")[2])).isGreaterThanOrEqualTo(128);
    }
    lab.host.sh("ip route add 198.19.128.0/17 dev eth0");
    assertThat(network.request("attach " + id + " " + lab.sandbox().pid() + " 100"))
        .contains("no address is free in 198.19.0.0/16");
  }
}
