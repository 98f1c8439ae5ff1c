package dev.isola.host.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.conformance.leak.TrackedResource;
import dev.isola.host.network.NetworkTestbed.InstallationNetwork;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Network mode bridge as an ordinary user, on a simulated host. */
class SlirpNetworkTest {
  private static final String RESOLVER = "10.0.2.3";
  private static final String GATEWAY = "10.0.2.2";

  @TempDir static Path folder;
  private static NetworkTestbed testbed;
  private static InstallationNetwork network;
  private final SandboxId id = NetworkTestbed.id();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    NetworkTestbed.requirePrograms("slirp4netns", "tail", "setsid");
    testbed = new NetworkTestbed(folder, false);
    network = testbed.network(NetworkTestbed.instance());
    testbed.keep();
  }

  @AfterAll
  static void end() throws IOException {
    if (testbed != null) {
      testbed.close();
    }
  }

  @AfterEach
  void reset() throws IOException, InterruptedException {
    testbed.reset();
  }

  private static List<String> on(String port, List<String> addresses) {
    return addresses.stream().map(address -> address + port).toList();
  }

  private static LeakDetector leaks(InstallationNetwork network) {
    return new LeakDetector(new InstanceId(network.instance()), folder.resolve("none"));
  }

  private static List<String> processes(ResourceScan leaks) {
    return leaks.resources().stream()
        .filter(thing -> thing.kind() == TrackedResource.Kind.PROCESS)
        .map(TrackedResource::description)
        .toList();
  }

  /** Counts descriptors of the marked processes only, not those of this JVM. */
  private static void awaitNothing(InstallationNetwork network) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(leaks(network).scan().resources()).isEmpty());
  }

  @Test
  void publicAddressesAreReachableAndLocalOnesAreNot() throws IOException, InterruptedException {
    assertThat(network.request("find")).isEqualTo("ok by slirp4netns");
    assertThat(network.request("resolvers")).isEqualTo("ok nameserver " + RESOLVER);
    TestNamespace sandbox = testbed.sandbox();
    assertThat(network.attach(id, sandbox, 100)).isEqualTo("10.0.2.100");
    assertThat(sandbox.sh("ip -6 addr show dev eth0; ip -6 route show dev eth0")).isEmpty();

    assertThat(
            testbed.dial(
                sandbox,
                List.of(NetworkTestbed.PUBLIC + ":8000", RESOLVER + ":53", RESOLVER + ":53:udp")))
        .hasSize(3)
        .allSatisfy(
            (target, answer) -> assertThat(answer).isEqualTo("from " + NetworkTestbed.HOST));

    List<String> near = new ArrayList<>(NetworkTestbed.PRIVATE);
    near.addAll(
        List.of(
            NetworkTestbed.HOST,
            NetworkTestbed.SECOND_HOST,
            NetworkTestbed.RESOLVER,
            RESOLVER,
            GATEWAY));
    assertThat(testbed.probe(sandbox, on(":8000", near)))
        .hasSize(near.size())
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));
    // Binding to an interface bypasses routes.
    assertThat(testbed.probe(sandbox, on(":8000:eth0", near)))
        .hasSize(near.size())
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("no: "));

    // Without the routes everything is reachable, except what slirp4netns itself blocks.
    near.removeAll(List.of(RESOLVER, GATEWAY));
    sandbox.sh("ip route flush type prohibit");
    assertThat(testbed.dial(sandbox, on(":8000", near)))
        .hasSize(near.size())
        .allSatisfy((target, answer) -> assertThat(answer).startsWith("from "));
  }

  @Test
  void slirpExitsWithTheSandboxWithoutAServer() throws IOException, InterruptedException {
    InstallationNetwork dying = testbed.network(NetworkTestbed.instance());
    TestNamespace sandbox = testbed.sandbox();
    TestNamespace other = testbed.sandbox();
    dying.attach(id, sandbox, 100);
    dying.attach(NetworkTestbed.id(), other, 100);
    dying.kill();
    // One of them may still be the shell that is about to execute it.
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(processes(leaks(dying).scan()))
                    .hasSize(4)
                    .allSatisfy(
                        process -> assertThat(process).containsAnyOf("slirp4netns", "tail --pid")));
    assertThat(testbed.dial(sandbox, NetworkTestbed.PUBLIC + ":8000")).startsWith("from ");
    sandbox.close();
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(processes(leaks(dying).scan())).hasSize(2));
    assertThat(testbed.dial(other, NetworkTestbed.PUBLIC + ":8000")).startsWith("from ");
    other.close();
    awaitNothing(dying);
  }

  @Test
  void removeLeavesNoProcesses() throws IOException, InterruptedException {
    LeakDetector leaks = leaks(network);
    SandboxId second = NetworkTestbed.id();
    TestNamespace sandbox = testbed.sandbox();
    network.attach(id, sandbox, 100);
    network.attach(id, sandbox, 100);
    network.attach(second, testbed.sandbox(), 100);
    assertThat(processes(leaks.scan())).hasSize(4);
    assertThat(network.request("remove " + id)).isEqualTo("ok");
    assertThat(processes(leaks.scan()))
        .hasSize(2)
        .allSatisfy(process -> assertThat(process).contains(second.value()));
    assertThat(network.request("remove " + second)).isEqualTo("ok");
    awaitNothing(network);
    assertThat(network.request("remove " + second)).isEqualTo("ok");
  }

  @Test
  void missingPrerequisiteIsNamed() throws IOException, InterruptedException {
    TestNamespace sandbox = testbed.sandbox();
    String attach = "attach " + id + " " + sandbox.pid() + " 100";
    testbed.host.sh("chmod 600 /dev/net/tun");
    InstallationNetwork without = testbed.network(NetworkTestbed.instance());
    assertThat(without.request("find"))
        .isEqualTo(
            "missing /dev/net/tun cannot be opened; as root: chgrp GROUP /dev/net/tun; chmod 660"
                + " /dev/net/tun, with a group of this user");
    assertThat(without.request(attach))
        .contains("no network for sandbox " + id + ": /dev/net/tun cannot be opened");
    testbed.host.sh("chmod 666 /dev/net/tun");
    assertThat(without.request("find")).startsWith("ok ");
    testbed.host.sh("chmod 600 /dev/net/tun");
    assertThat(without.request(attach))
        .contains("slirp4netns did not start", "open(\"/dev/net/tun\"): Permission denied");
    awaitNothing(without);
  }
}
