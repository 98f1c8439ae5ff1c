package dev.isola.provider.docker;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.cgroup.ControlGroup;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ContainerPlanTest {
  private static final SandboxId ID = new SandboxId("abc");
  private static final SandboxSpec PLAIN = SandboxSpec.builder(ID).build();

  private static Map<String, Object> body(SandboxSpec spec, boolean remaps) {
    EngineInfo engineInfo =
        new EngineInfo(
            "29",
            false,
            false,
            remaps,
            true,
            "6.1",
            "x86_64",
            new TreeMap<>(),
            Set.of(),
            true,
            OptionalLong.empty(),
            Optional.empty(),
            List.of(),
            List.of());
    DockerProviderSettings settings =
        DockerProviderSettings.of(
            new ProviderConfig(Map.of("bridge", "walled")),
            EngineAddressResolver.parse("unix:///run/docker.sock"));
    ResolvedImage image =
        new ResolvedImage("sha256:1", Optional.empty(), Map.of(), Optional.empty(), List.of());
    return new ContainerPlan(
            new InstanceId("mine"),
            EngineVariant.DOCKER,
            spec,
            engineInfo,
            settings,
            image,
            Optional.empty(),
            List.of(),
            List.of("--report"),
            "sealed")
        .body();
  }

  @SuppressWarnings("unchecked") // The value is always such a map.
  private static Map<String, Object> host(SandboxSpec spec, boolean remaps) {
    return (Map<String, Object>) requireNonNull(body(spec, remaps).get("HostConfig"));
  }

  @Test
  void unneededPrivilegesAreDropped() {
    Map<String, Object> host = host(PLAIN, false);
    assertThat(host)
        .containsEntry("CapDrop", List.of("ALL"))
        .containsEntry("SecurityOpt", List.of("no-new-privileges"))
        .containsEntry("NetworkMode", "none")
        .containsEntry("Privileged", false)
        .containsEntry("PidsLimit", 1024 + ControlGroup.AGENT_THREADS)
        .containsEntry("Memory", 1024L << 20)
        .containsEntry("MemorySwap", 1024L << 20)
        .doesNotContainKey("UsernsMode");
    assertThat(String.valueOf(host.get("CapAdd")))
        .doesNotContain("SYS_", "NET_RAW", "NET_ADMIN", "MKNOD", "AUDIT");
  }

  @Test
  void containerIsLabelledWithItsOwner() {
    assertThat(String.valueOf(body(PLAIN, false).get("Labels")))
        .contains("dev.isola.instance=mine", "dev.isola.sandbox=abc", "dev.isola.provider=docker");
    assertThat(body(PLAIN, false)).containsEntry("User", "0:0");
  }

  @Test
  void environmentIsNotStoredInTheEngine() {
    SandboxSpec secret = PLAIN.toBuilder().env("TOKEN", "hunter2").build();
    assertThat(body(secret, false).toString()).doesNotContain("hunter2");
  }

  @Test
  void userRemappingIsDisabledOnlyForHostSharing() {
    assertThat(host(PLAIN, true)).doesNotContainKey("UsernsMode");
    SandboxSpec bound = PLAIN.toBuilder().volume(VolumeMount.bind("/srv", "/srv", true)).build();
    assertThat(host(bound, true)).containsEntry("UsernsMode", "host");
    assertThat(host(bound, false)).doesNotContainKey("UsernsMode");
  }

  @Test
  void bridgeModeUsesTheConfiguredNetwork() {
    SandboxSpec bridged = PLAIN.toBuilder().network(Network.of(NetworkMode.BRIDGE)).build();
    assertThat(host(bridged, false)).containsEntry("NetworkMode", "walled");
  }

  @Test
  void cpuLimitIsCappedAtTheHostCpus() {
    SandboxSpec many = PLAIN.toBuilder().limits(ResourceLimits.DEFAULT.withCpu(512)).build();
    assertThat(host(many, false))
        .containsEntry("CpuQuota", 51_200_000L)
        .doesNotContainKey("NanoCpus");
  }
}
