package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.Health;
import dev.isola.spi.LimitKind;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FactsTest {
  private static Facts facts(String version, String info) throws IOException {
    return Facts.of(JsonValue.parse(version.getBytes(UTF_8)), JsonValue.parse(info.getBytes(UTF_8)), false);
  }

  private static String components(String engine, String runc) {
    return "{\"Version\": \""
        + engine
        + "\", \"Components\": [{\"Name\": \"Engine\", \"Version\": \""
        + engine
        + "\"}, {\"Name\": \"runc\", \"Version\": \""
        + runc
        + "\"}]}";
  }

  private static Health health(Flavour flavour, Facts facts) {
    Settings settings =
        Settings.of(new ProviderConfig(Map.of()), EngineAddresses.parse("unix:///run/x.sock"));
    return new EngineCheck(flavour, settings).health(facts);
  }

  @Test
  void anOldRuncIsRefusedUnlessADistributionMendedIt() throws IOException {
    Facts old = facts(components("29.0.0", "1.1.5"), "{}");
    assertThat(health(Flavour.DOCKER, old))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains("CVE-2024-21626"));
    Facts mended = facts(components("29.0.0", "1.1.5+ds1-1+deb12u1"), "{}");
    assertThat(health(Flavour.DOCKER, mended))
        .isInstanceOfSatisfying(
            Health.Healthy.class, well -> assertThat(well.detail()).contains("distribution"));
    Facts current = facts(components("29.0.0", "1.4.3"), "{}");
    assertThat(health(Flavour.DOCKER, current))
        .isInstanceOfSatisfying(
            Health.Healthy.class, well -> assertThat(well.detail()).doesNotContain("CVE"));
  }

  @Test
  void anOldEngineIsRefusedToo() throws IOException {
    assertThat(health(Flavour.DOCKER, facts(components("20.10.12", "1.4.3"), "{}")))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains("CVE-2022-24769"));
  }

  @Test
  void theResourcesAreThoseOfTheEnginesMachine() throws IOException {
    assertThat(facts("{}", "{\"NCPU\": 48, \"MemTotal\": 270582939648}").resources())
        .contains(new HostResources(48, 258_048));
    assertThat(facts("{}", "{\"NCPU\": 0, \"MemTotal\": -1}").resources()).isEmpty();
    assertThat(facts("{}", "{}").resources()).isEmpty();
  }

  @Test
  void onlyLimitsThatTheEngineCanSetAreDeclared() throws IOException {
    assertThat(facts("{}", "{\"MemoryLimit\": true}").limits())
        .containsExactlyInAnyOrder(LimitKind.MEMORY, LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT);
  }

  @Test
  void dockerIsNotTakenForPodman() throws IOException {
    Facts docker = facts(components("29.0.0", "1.4.3"), "{}");
    assertThat(health(Flavour.PODMAN, docker).healthy()).isFalse();
  }

  @Test
  void kataIsKnownByItsProgramOrItsShim() throws IOException {
    for (String kata :
        List.of(
            "{\"runtimeType\": \"io.containerd.kata.v2\"}",
            "{\"runtimeType\": \"io.containerd.kata-qemu.v2\"}",
            "{\"path\": \"/usr/bin/kata-runtime\"}",
            "{\"path\": \"/opt/kata/bin/containerd-shim-kata-v2\"}")) {
      assertThat(health(Flavour.KATA, registered(kata)).healthy()).as(kata).isTrue();
    }
    for (String another :
        List.of(
            "{}",
            "{\"path\": \"runc\"}",
            "{\"path\": \"/usr/bin/runsc\"}",
            "{\"path\": \"/srv/kata-runtime/runsc\"}",
            "{\"runtimeType\": \"io.containerd.runsc.v1\"}",
            "{\"path\": \"/usr/bin/kata-runtime\", \"runtimeType\": \"io.containerd.runc.v2\"}",
            "{\"runtimeType\": \"xio.containerd.kata.v2\"}")) {
      assertThat(health(Flavour.KATA, registered(another)))
          .as(another)
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              ill -> assertThat(ill.reason()).contains("not known to be kata"));
    }
  }

  private static Facts registered(String kata) throws IOException {
    return facts("{}", "{\"Runtimes\": {\"runc\": {}, \"kata\": " + kata + "}}");
  }

  @Test
  void whatIsNotThereHasNoFacts() throws IOException {
    Facts nothing = facts("[]", "null");
    assertThat(nothing.runtimes()).isEmpty();
    assertThat(nothing.podman()).isFalse();
  }
}
