package dev.isola.host.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts that need no privileges. */
class NetworkPartsTest {
  private static final InstanceId INSTANCE = new InstanceId("install1");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "100.100.100.200",
        "127.0.0.53",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.255.255",
        "198.19.0.1",
        "224.0.0.251",
        "255.255.255.255"
      })
  void localAddressesAreBlocked(String address) {
    assertThat(BlockedRanges.contains(InetAddress.ofLiteral(address))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "223.255.255.255",
        "2001:db8::1"
      })
  void publicAddressesAreNotBlocked(String address) {
    assertThat(BlockedRanges.contains(InetAddress.ofLiteral(address))).isFalse();
  }

  @Test
  void loopbackResolversAreSkipped() {
    List<String> lines =
        List.of(
            "# nameserver 9.9.9.9",
            "search example.org",
            "nameserver 127.0.0.53",
            "nameserver\t10.1.2.3  ",
            "nameserver fd00::53",
            "nameserver 0.0.0.0",
            "nameserver not-an-address",
            "nameserver",
            "nameserver 10.1.2.3",
            "nameserver 192.0.2.1");
    assertThat(Resolvers.parse(lines))
        .extracting(InetAddress::getHostAddress)
        .containsExactly("10.1.2.3", "192.0.2.1");
  }

  @Test
  void candidatesAreUniqueAndStartAtDifferentAddresses() throws IOException {
    SandboxId id = new SandboxId("a");
    List<AddressPool.AddressSlot> places = AddressPool.candidates(id, Set.of());
    AddressPool.AddressSlot first = places.getFirst();
    assertThat(places).doesNotHaveDuplicates();
    assertThat(AddressPool.RANGE.contains(InetAddress.ofLiteral(first.address()))).isTrue();
    assertThat(first.address()).isNotEqualTo(AddressPool.GATEWAY);
    assertThat(first.link()).hasSizeLessThan(16);
    assertThat(AddressPool.candidates(id, Set.of(first.link()))).doesNotContain(first);
    assertThat(AddressPool.candidates(new SandboxId("b"), Set.of()).getFirst()).isNotEqualTo(first);
    assertThat(new AddressPool.AddressSlot(65_534).address()).isEqualTo("198.19.255.254");
    assertThat(new AddressPool.AddressSlot(65_534).hostMac()).isEqualTo("02:69:73:00:ff:fe");
  }

  @Test
  void linksAreParsedFromIpOutput() {
    String answer =
        """
        3: isola-50713@if2: <BROADCAST,UP> mtu 1500 qdisc tbf state UP mode DEFAULT group 1174102699 qlen 1000\\    link/ether 02:69:73:00:c6:19 brd ff:ff:ff:ff:ff:ff link-netnsid 1 \\    alias isola-install1-box
        4: isola-7@eth0: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether 02:69:73:00:c6:1a brd ff:ff:ff:ff:ff:ff
        5: veth1@if2: <BROADCAST,UP> mtu 1500 group 5 qlen 1000\\    link/ether 02:69:73:00:c6:1a brd ff:ff:ff:ff:ff:ff \\    alias isola-install1-box
        """;
    assertThat(VethLink.parse(answer))
        .containsExactly(
            new VethLink("isola-50713", "1174102699", "isola-install1-box"),
            new VethLink("isola-7", "default", ""));
  }

  @Test
  void rulesUseASingleTable() {
    assertThat(new NftRules(INSTANCE).text(List.of("10.1.2.3")).lines())
        .filteredOn(line -> !line.isBlank())
        .allSatisfy(line -> assertThat(line).containsOnlyOnce(" inet isola-install1"));
    assertThat(new NftRules(INSTANCE).text(List.of()))
        .doesNotContain("add element inet isola-install1 resolvers");
  }

  @Test
  void droppingChainsAreFound() {
    String answer =
        """
        table ip nat {
        \tchain POSTROUTING {
        \t\ttype nat hook postrouting priority srcnat; policy accept;
        \t}
        }
        table ip filter {
        \tchain INPUT {
        \t\ttype filter hook input priority filter; policy drop;
        \t}
        \tchain FORWARD {
        \t\ttype filter hook forward priority filter; policy drop;
        \t}
        }
        table inet mine {
        \tchain f {
        \t\ttype filter hook forward priority filter; policy accept;
        \t}
        }
        """;
    assertThat(HostFirewall.droppingTables(answer)).containsExactly("ip filter");
  }

  @Test
  void failedProgramReportsItsOutput() {
    assertThatThrownBy(() -> NetworkProgram.of("sh", "-c").run("", "echo no luck >&2; exit 3"))
        .isInstanceOf(IOException.class)
        .hasMessage("sh -c echo no luck >&2; exit 3 failed: no luck");
    assertThatThrownBy(() -> NetworkProgram.of("no-such-program").run(""))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no-such-program");
  }

  @Test
  void programReceivesInputButNoEnvironment() throws IOException {
    assertThat(NetworkProgram.of("cat").run("one\ntwo\n", "-")).isEqualTo("one\ntwo\n");
    assertThat(NetworkProgram.of("env").run("").lines())
        .extracting(line -> line.substring(0, line.indexOf('=')))
        .containsExactlyInAnyOrder("PATH", "LC_ALL");
    assertThat(NetworkProgram.missing("sh", "no-such-program")).containsExactly("no-such-program");
  }
}
