package dev.isola.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Forbidden;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A3, S5: the names and addresses that a server accepts. */
class MachineNamesTest {
  private static final List<String> NO_ORIGIN = List.of();

  private final Set<InetAddress> addresses = new HashSet<>();
  private final AtomicLong now = new AtomicLong();
  private final AtomicInteger looks = new AtomicInteger();

  private HostOriginFilter hostFilter(String... names) {
    return new HostOriginFilter(
        List.of("isola.example"),
        new MachineNames(
            Set.of(names),
            () -> {
              looks.incrementAndGet();
              return Set.copyOf(addresses);
            },
            now::get));
  }

  @Test
  void addressesAndNamesOfTheHostAreAccepted() {
    addresses.add(InetAddress.ofLiteral("192.0.2.7"));
    addresses.add(InetAddress.ofLiteral("2001:db8::7"));
    HostOriginFilter hostFilter = hostFilter("Workshop");
    for (String host :
        List.of(
            "192.0.2.7:7777",
            "192.0.2.7",
            "[2001:db8::7]:7777",
            "[2001:DB8:0:0:0:0:0:7]",
            "workshop:7777",
            "WORKSHOP")) {
      hostFilter.check(List.of(host), NO_ORIGIN);
      hostFilter.check(List.of(host), List.of("http://" + host));
    }
  }

  @Test
  void foreignNamesOfTheHostAreRejected() {
    addresses.add(InetAddress.ofLiteral("192.0.2.7"));
    HostOriginFilter hostFilter = hostFilter("workshop");
    for (String host :
        List.of(
            "evil.example",
            "192.0.2.8",
            "192.0.2.7.evil.example",
            "workshop.evil.example",
            "x192.0.2.7",
            "[192.0.2.7",
            "[::ffff:192.0.2.8]")) {
      assertThatThrownBy(() -> hostFilter.check(List.of(host), NO_ORIGIN))
          .as(host)
          .isInstanceOf(Forbidden.class);
      assertThatThrownBy(() -> hostFilter.check(List.of("192.0.2.7"), List.of("http://" + host)))
          .as("origin %s", host)
          .isInstanceOf(Forbidden.class);
    }
  }

  @Test
  void newAddressIsDetectedAndLookupsAreLimitedToOnePerSecond() {
    HostOriginFilter hostFilter = hostFilter();
    for (int i = 0; i < 100; i++) {
      assertThatThrownBy(() -> hostFilter.checkHost(List.of("192.0.2.7")))
          .isInstanceOf(Forbidden.class);
    }
    assertThat(looks).hasValue(1);
    addresses.add(InetAddress.ofLiteral("192.0.2.7"));
    now.addAndGet(1_500_000_000L);
    hostFilter.checkHost(List.of("192.0.2.7"));
    assertThat(looks).hasValue(2);
  }

  @Test
  void serverOnLoopbackHasNoFurtherNames() {
    assertThat(MachineNames.of("127.0.0.1").all()).isEmpty();
    assertThat(MachineNames.of("localhost").contains("192.0.2.7")).isFalse();
  }

  @Test
  void serverOnOneAddressAcceptsOnlyThatAddress() {
    MachineNames names = MachineNames.of("192.0.2.7");
    assertThat(names.contains("192.0.2.7")).isTrue();
    assertThat(names.contains("192.0.2.8")).isFalse();
    assertThat(names.all()).containsExactly("192.0.2.7");
  }

  @Test
  void serverOnAllAddressesAcceptsAllAddressesOfTheHost() throws Exception {
    MachineNames names = MachineNames.of("0.0.0.0");
    assertThat(names.contains("127.0.0.1")).isTrue();
    String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    assertThat(names.contains(name.toLowerCase(Locale.ROOT))).isTrue();
    assertThat(names.all()).isNotEmpty().doesNotContain("127.0.0.1");
  }

  @Test
  void addressIsDistinguishedFromAName() {
    assertThat(HostOriginFilter.isAddress("192.0.2.7:7777")).isTrue();
    assertThat(HostOriginFilter.isAddress("[2001:db8::7]:7777")).isTrue();
    assertThat(HostOriginFilter.isAddress("127.0.0.1:7777")).as("loopback is localhost").isFalse();
    assertThat(HostOriginFilter.isAddress("isola.example")).isFalse();
  }
}
