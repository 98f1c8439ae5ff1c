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
  private static NetworkTestbed testbed;
  private static InstallationNetwork network;
  private String before = "";
  private final SandboxId id = NetworkTestbed.id();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    testbed = new NetworkTestbed(folder, true);
    network = testbed.network(NetworkTestbed.instance());
    testbed.keep();
  }

  @AfterAll
  static void end() throws IOException {
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void recordInventory() throws IOException, InterruptedException {
    before = testbed.inventory();
  }

  @AfterEach
  void reset() throws IOException, InterruptedException {
    testbed.reset();
  }

  private static List<String> on(String port, List<String> addresses) {
    return addresses.stream().map(address -> address + port).toList();
  }

  @Test
  void publicAddressesAreReachableAndLocalOnesAreNot() throws IOException, InterruptedException {
    assertThat(network.request("find")).isEqualTo("ok by veth, nftables and tc; limits");
    assertThat(network.request("resolvers")).isEqualTo("ok nameserver " + NetworkTestbed.RESOLVER);
    TestNamespace sandbox = testbed.sandbox();
    TestNamespace other = testbed.sandbox();
    String address = network.attach(id, sandbox, 100);
    String otherAddress = network.attach(NetworkTestbed.id(), other, 100);
    testbed.serve(other);

    assertThat(sandbox.sh("ip -6 addr show dev eth0; ip -6 route show dev eth0")).isEmpty();
    String resolver = NetworkTestbed.RESOLVER;
    List<String> allowed =
        List.of(NetworkTestbed.PUBLIC + ":8000", resolver + ":53", resolver + ":53:udp");
    assertThat(testbed.dial(sandbox, allowed))
        .hasSize(3)
        .allSatisfy(
            (target, answer) -> assertThat(answer).isEqualTo("from " + NetworkTestbed.HOST));

    List<String> addresses = new ArrayList<>(NetworkTestbed.PRIVATE);
    addresses.addAll(
        List.of(
            NetworkTestbed.HOST,
            NetworkTestbed.SECOND_HOST,
            resolver,
            otherAddress,
            AddressPool.GATEWAY));
    List<String> refused = new ArrayList<>(on(":8000", addresses));
    assertThat(testbed.probe(sandbox, refused))
        .hasSize(addresses.size())
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
    // Binding to an interface bypasses routes.
    assertThat(testbed.probe(sandbox, on(":8000:eth0", addresses)))
        .hasSize(addresses.size())
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
    assertThat(testbed.probe(sandbox, "169.254.169.254:53")).startsWith("no: ");
    testbed.serve(sandbox);
    assertThat(testbed.probe(testbed.internet, address + ":8000")).startsWith("no: ");

    // Each mechanism suffices alone: first only the rules, ...
    refused.remove(AddressPool.GATEWAY + ":8000");
    sandbox.sh("ip route flush type prohibit");
    assertThat(testbed.probe(sandbox, refused))
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
    // ... and without both everything is reachable, also from outside.
    testbed.host.sh("nft flush ruleset");
    other.sh("ip route flush type prohibit");
    assertThat(testbed.dial(sandbox, refused))
        .hasSize(refused.size())
        .allSatisfy((target, answer) -> assertThat(answer).isEqualTo("from " + address));
    assertThat(testbed.dial(testbed.internet, address + ":8000")).startsWith("from ");

    // ... then only the routes, as after a reload of the host's firewall. Routes do not distinguish
    // ports.
    refused.remove(resolver + ":8000");
    addresses.remove(resolver);
    network.attach(id, sandbox, 100);
    testbed.host.sh("nft flush ruleset");
    assertThat(testbed.probe(sandbox, refused))
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
    assertThat(testbed.probe(sandbox, on(":8000:eth0", addresses)))
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
  }

  @Test
  void removeRestoresTheHost() throws IOException, InterruptedException {
    SandboxId second = NetworkTestbed.id();
    network.attach(id, testbed.sandbox(), 100);
    network.attach(second, testbed.sandbox(), 100);
    assertThat(testbed.inventory()).contains("isola-" + network.instance()).isNotEqualTo(before);
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(testbed.inventory()).contains("isola-" + network.instance());
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    assertThat(network.request("remove " + NetworkTestbed.id())).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  @Test
  void interruptedAttachIsAtomic() throws IOException, InterruptedException {
    assertThat(network.request("interrupt attach " + id + " " + testbed.sandbox().pid() + " 100"))
        .startsWith("ok 198.19.")
        .endsWith(", interrupted");
    assertThat(network.request("interrupt remove " + id)).isEqualTo("ok, interrupted");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  @Test
  void interfaceDisappearsWithTheSandbox() throws IOException, InterruptedException {
    InstallationNetwork dying = testbed.network(network.instance());
    TestNamespace sandbox = testbed.sandbox();
    dying.attach(id, sandbox, 100);
    dying.kill();
    assertThat(testbed.host.sh("ip -o link")).contains("isola-");
    sandbox.close();
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(testbed.host.sh("ip -o link")).doesNotContain("isola-"));
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  /** Kills the process at its start, after the first change, and so on. */
  @Test
  void removeCleansUpAfterAKilledAttach() throws IOException, InterruptedException {
    TestNamespace sandbox = testbed.sandbox();
    for (String sign : List.of("", "table inet isola-", "eth0/forwarding:1", " isola-\\d+@")) {
      InstallationNetwork killed = testbed.network(network.instance());
      killed.send("attach " + id + " " + sandbox.pid() + " 100");
      await()
          .atMost(Duration.ofSeconds(10))
          .pollInterval(Duration.ofMillis(1))
          .untilAsserted(() -> assertThat(testbed.inventory()).containsPattern(sign));
      killed.kill();
      assertThat(network.request("remove " + id)).isEqualTo("ok");
      assertThat(testbed.inventory()).isEqualTo(before);
    }
  }

  @Test
  void incompleteInterfaceIsRemovedByTheNextAttach() throws IOException, InterruptedException {
    String group = VethLink.group(new dev.isola.spi.InstanceId(network.instance()));
    testbed.host.sh("ip link add name isola-77 group " + group + " type veth peer name x");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    testbed.host.sh("ip link add name isola-77 group 5 type veth peer name x");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(testbed.inventory()).as("of another installation").contains("isola-77");
  }

  @Test
  void installationsAreIndependent() throws IOException, InterruptedException {
    InstallationNetwork otherNetwork = testbed.network(NetworkTestbed.instance());
    List<TestNamespace> sandboxes =
        List.of(testbed.sandbox(), testbed.sandbox(), testbed.sandbox(), testbed.sandbox());
    // The same id prefers the same address.
    network.send("attach " + id + " " + sandboxes.get(0).pid() + " 100");
    otherNetwork.send("attach " + id + " " + sandboxes.get(1).pid() + " 100");
    SandboxId second = NetworkTestbed.id();
    otherNetwork.send("attach " + second + " " + sandboxes.get(2).pid() + " 100");
    network.send("attach " + second + " " + sandboxes.get(3).pid() + " 100");
    List<String> answers =
        List.of(network.answer(), otherNetwork.answer(), otherNetwork.answer(), network.answer());
    assertThat(answers)
        .doesNotHaveDuplicates()
        .allSatisfy(answer -> assertThat(answer).startsWith("ok 198.19."));

    testbed.serve(sandboxes.get(1));
    String theirs = answers.get(1).split(" ")[1];
    assertThat(testbed.probe(sandboxes.get(0), theirs + ":8000")).startsWith("no: ");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    Map<String, String> still =
        testbed.dial(sandboxes.get(1), List.of(NetworkTestbed.PUBLIC + ":8000", "10.9.9.9:8000"));
    assertThat(still.get(NetworkTestbed.PUBLIC + ":8000")).isEqualTo("from " + NetworkTestbed.HOST);
    assertThat(still.get("10.9.9.9:8000")).startsWith("no: ");
    assertThat(otherNetwork.request("remove " + id)).isEqualTo("ok");
    assertThat(otherNetwork.request("remove " + second)).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  /** Forwarding for sandboxes must not turn the host into a router for others. */
  @Test
  void hostDoesNotForwardPacketsOfOthers() throws IOException, InterruptedException {
    TestNamespace stranger = testbed.sandbox();
    testbed.host.sh(
        "ip link add inner type veth peer name eth0 netns %d; ip addr add 192.0.2.129/25 dev inner; ip link set inner addrgenmode none up"
            .formatted(stranger.pid()));
    stranger.sh(
        "ip link set lo up; ip addr add 192.0.2.130/25 dev eth0; ip link set eth0 addrgenmode none"
            + " up; ip route add default via 192.0.2.129");
    testbed.serve(stranger);
    before = testbed.inventory();
    String behind = "192.0.2.130:8000";
    assertThat(testbed.probe(testbed.internet, behind)).startsWith("no: ");
    network.attach(id, testbed.sandbox(), 100);
    assertThat(testbed.inventory()).contains("eth0/forwarding:1", "all/forwarding:0");
    assertThat(testbed.probe(testbed.internet, behind)).startsWith("no: ");
    testbed.host.sh("nft delete table inet isola-forwarding");
    assertThat(testbed.dial(testbed.internet, behind)).startsWith("from ");

    // Packets that another program translates still pass.
    network.request("remove " + id);
    testbed.host.sh("for f in eth0 inner; do echo 0 >/proc/sys/net/ipv4/conf/$f/forwarding; done");
    network.attach(id, testbed.sandbox(), 100);
    testbed.host.sh(
        "nft 'table ip other { chain pre { type nat hook prerouting priority dstnat; tcp dport 9000"
            + " dnat to "
            + behind
            + "; }; }'");
    assertThat(testbed.dial(testbed.internet, NetworkTestbed.HOST + ":9000")).startsWith("from ");
    assertThat(testbed.probe(testbed.internet, behind)).startsWith("no: ");
    testbed.host.sh("nft delete table ip other");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  @Test
  void hostWithForwardingEnabledKeepsIt() throws IOException, InterruptedException {
    testbed.host.sh("echo 1 >/proc/sys/net/ipv4/ip_forward");
    before = testbed.inventory();
    TestNamespace sandbox = testbed.sandbox();
    network.attach(id, sandbox, 100);
    assertThat(testbed.inventory()).doesNotContain("isola-forwarding");
    assertThat(testbed.dial(sandbox, NetworkTestbed.PUBLIC + ":8000")).startsWith("from ");
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  @Test
  void blockingFirewallIsNamed() throws IOException, InterruptedException {
    testbed.host.sh(
        "nft 'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop;"
            + " }; }'");
    assertThat(testbed.network(NetworkTestbed.instance()).request("find"))
        .startsWith("missing a firewall drops forwarded packets: table [ip filter]; accept");
    testbed.host.sh("nft 'add rule ip filter FORWARD iifname \"isola-*\" accept'");
    assertThat(testbed.network(NetworkTestbed.instance()).request("find")).startsWith("ok ");
  }

  @Test
  void bandwidthIsLimitedInBothDirections() throws IOException, InterruptedException {
    assertThat(network.request("find")).endsWith("limits");
    TestNamespace slow = testbed.sandbox();
    TestNamespace fast = testbed.sandbox();
    network.attach(id, slow, 8);
    network.attach(NetworkTestbed.id(), fast, 1000);
    for (String way : List.of("get", "put")) {
      long took = NetworkTestbed.transfer(slow, way);
      assertThat(took).as("750 kB at 8 Mbit/s, " + way).isGreaterThan(500);
      assertThat(NetworkTestbed.transfer(fast, way)).isLessThan(took);
    }
  }

  @Test
  void connectionsPerSandboxAreLimited() throws IOException, InterruptedException {
    TestNamespace sandbox = testbed.sandbox();
    network.attach(id, sandbox, 100);
    assertThat(NetworkTestbed.countConnections(sandbox)).isBetween(4000, 4096);
    // Another sandbox has its own count, and attaching it does not reset the first.
    TestNamespace other = testbed.sandbox();
    network.attach(NetworkTestbed.id(), other, 100);
    assertThat(NetworkTestbed.countConnections(sandbox)).isLessThan(50);
    assertThat(testbed.dial(other, NetworkTestbed.RESOLVER + ":53:udp")).startsWith("from ");
  }

  @Test
  void hostNamespaceIsRejected() throws IOException, InterruptedException {
    assertThat(network.request("attach " + id + " " + testbed.host.pid() + " 100"))
        .contains("is in the network namespace of the host");
    TestNamespace sandbox = testbed.sandbox();
    sandbox.close();
    assertThat(network.request("attach " + id + " " + sandbox.pid() + " 100"))
        .contains("no network for sandbox " + id + ": its agent has ended");
    assertThat(testbed.inventory()).isEqualTo(before);
  }

  @Test
  void networksInUseAreAvoided() throws IOException, InterruptedException {
    testbed.host.sh("ip route add 198.19.0.0/17 dev eth0");
    for (int i = 0; i < 3; i++) {
      String address = network.attach(NetworkTestbed.id(), testbed.sandbox(), 100);
      assertThat(Integer.parseInt(address.split("\\.")[2])).isGreaterThanOrEqualTo(128);
    }
    testbed.host.sh("ip route add 198.19.128.0/17 dev eth0");
    assertThat(network.request("attach " + id + " " + testbed.sandbox().pid() + " 100"))
        .contains("no address is free in 198.19.0.0/16");
  }
}
