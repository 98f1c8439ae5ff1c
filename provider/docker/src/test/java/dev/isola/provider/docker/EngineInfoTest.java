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

class EngineInfoTest {
  private static EngineInfo engineInfo(String version, String info) throws IOException {
    return EngineInfo.of(
        JsonValue.parse(version.getBytes(UTF_8)), JsonValue.parse(info.getBytes(UTF_8)), false);
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

  private static Health health(EngineVariant variant, EngineInfo engineInfo) {
    DockerProviderSettings settings =
        DockerProviderSettings.of(
            new ProviderConfig(Map.of()), EngineAddressResolver.parse("unix:///run/x.sock"));
    return new EngineCheck(variant, settings).health(engineInfo);
  }

  @Test
  void vulnerableRuncIsRefusedUnlessFromADistribution() throws IOException {
    EngineInfo old = engineInfo(components("29.0.0", "1.1.5"), "{}");
    assertThat(health(EngineVariant.DOCKER, old))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains("CVE-2024-21626"));
    EngineInfo patched = engineInfo(components("29.0.0", "1.1.5+ds1-1+deb12u1"), "{}");
    assertThat(health(EngineVariant.DOCKER, patched))
        .isInstanceOfSatisfying(
            Health.Healthy.class, well -> assertThat(well.detail()).contains("distribution"));
    EngineInfo current = engineInfo(components("29.0.0", "1.4.3"), "{}");
    assertThat(health(EngineVariant.DOCKER, current))
        .isInstanceOfSatisfying(
            Health.Healthy.class, well -> assertThat(well.detail()).doesNotContain("CVE"));
  }

  @Test
  void vulnerableEngineIsRefused() throws IOException {
    assertThat(health(EngineVariant.DOCKER, engineInfo(components("20.10.12", "1.4.3"), "{}")))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains("CVE-2022-24769"));
  }

  @Test
  void resourcesAreThoseOfTheEnginesHost() throws IOException {
    assertThat(engineInfo("{}", "{\"NCPU\": 48, \"MemTotal\": 270582939648}").resources())
        .contains(new HostResources(48, 258_048));
    assertThat(engineInfo("{}", "{\"NCPU\": 0, \"MemTotal\": -1}").resources()).isEmpty();
    assertThat(engineInfo("{}", "{}").resources()).isEmpty();
  }

  @Test
  void onlyEnforceableLimitsAreDeclared() throws IOException {
    assertThat(engineInfo("{}", "{\"MemoryLimit\": true}").limits())
        .containsExactlyInAnyOrder(LimitKind.MEMORY, LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT);
  }

  @Test
  void dockerIsDistinguishedFromPodman() throws IOException {
    EngineInfo docker = engineInfo(components("29.0.0", "1.4.3"), "{}");
    assertThat(health(EngineVariant.PODMAN, docker).healthy()).isFalse();
  }

  @Test
  void kataIsRecognizedByProgramOrShim() throws IOException {
    for (String kata :
        List.of(
            "{\"runtimeType\": \"io.containerd.kata.v2\"}",
            "{\"runtimeType\": \"io.containerd.kata-qemu.v2\"}",
            "{\"path\": \"/usr/bin/kata-runtime\"}",
            "{\"path\": \"/opt/kata/bin/containerd-shim-kata-v2\"}")) {
      assertThat(health(EngineVariant.KATA, registered(kata)).healthy()).as(kata).isTrue();
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
      assertThat(health(EngineVariant.KATA, registered(another)))
          .as(another)
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              ill -> assertThat(ill.reason()).contains("not known to be kata"));
    }
  }

  private static EngineInfo registered(String kata) throws IOException {
    return engineInfo("{}", "{\"Runtimes\": {\"runc\": {}, \"kata\": " + kata + "}}");
  }

  @Test
  void missingFieldsAreEmpty() throws IOException {
    EngineInfo nothing = engineInfo("[]", "null");
    assertThat(nothing.runtimes()).isEmpty();
    assertThat(nothing.podman()).isFalse();
  }
}
