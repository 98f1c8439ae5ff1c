package dev.isola.egress.address;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.spec.AddressBlock;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G3: the addresses that no rule opens. */
class AddressFloorTest {
  private static final AddressFloor FLOOR =
      new AddressFloor(() -> Set.of(address("198.51.100.1"), address("2600::1")), List.of());

  private static InetAddress address(String text) {
    return InetAddress.ofLiteral(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "0.1.2.3",
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "168.63.129.16",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "198.51.100.1",
        "2600::1",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2002:c633:6401::1",
        "2001::1",
        "2001:0:a9fe:a9fe::",
        "fec0::1",
        "100::1",
        "4000::1"
      })
  void isRefused(String text) {
    assertThat(FLOOR.refusal(address(text))).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.1",
        "168.63.129.17",
        "172.15.255.255",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.1",
        "203.0.113.10",
        "223.255.255.255",
        "2606:4700::1111",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "::ffff:1.1.1.1"
      })
  void isReachable(String text) {
    assertThat(FLOOR.refusal(address(text))).isEmpty();
  }

  @Test
  void operatorOpensAddresses() {
    AddressFloor floor =
        new AddressFloor(
            Set::of,
            List.of(
                AddressBlock.parse("10.1.0.0/16").orElseThrow(),
                AddressBlock.parse("fd00::/8").orElseThrow()));

    assertThat(floor.refusal(address("10.1.2.3"))).isEmpty();
    assertThat(floor.refusal(address("10.2.2.3"))).isPresent();
    assertThat(floor.refusal(address("fd12::1"))).isEmpty();
    assertThat(floor.refusal(address("fc12::1"))).isPresent();
  }

  @Test
  void addressesOfThisHostAreFound() {
    assertThat(new HostAddresses().get()).contains(address("127.0.0.1"));
  }
}
