package dev.isola.spi.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** P8, P12: what a provider supports is decided by its declarations, in one place. */
class ProviderInfoTest {
  private static final SpecSupport NOTHING =
      new SpecSupport(Set.of(), Set.of(), Set.of(), Set.of());
  private static final SpecSupport EVERYTHING =
      new SpecSupport(
          EnumSet.allOf(SpecFeature.class),
          EnumSet.allOf(NetworkMode.class),
          EnumSet.allOf(VolumeMount.Type.class),
          EnumSet.allOf(LimitKind.class));
  private static final SandboxSpec GREEDY =
      SandboxSpec.builder(new SandboxId("a"))
          .image("python")
          .user("agent")
          .workspacePath(Path.of("/srv"))
          .gpus(1)
          .network(
              new Network(
                  Optional.of(NetworkMode.BRIDGE), List.of("a.org"), List.of(), List.of(80)))
          .volume(new VolumeMount(VolumeMount.Type.TMPFS, "", "/a", false))
          .volume(new VolumeMount(VolumeMount.Type.TMPFS, "", "/b", false))
          .build();

  private static ProviderInfo info(SpecSupport support) {
    return new ProviderInfo(
        "bare",
        "a provider",
        ApiVersion.CURRENT,
        Isolation.CONTAINER,
        Set.of(Attaching.class),
        support,
        List.of(),
        "nothing to clean",
        Duration.ofMillis(1));
  }

  @Test
  void reportsEveryUndeclaredFeatureOfASpec() {
    assertThat(info(NOTHING).missing(GREEDY, Requirements.NONE))
        .containsExactly(
            "images",
            "running as another user",
            "workspacePath",
            "network.allowDomains and network.blockDomains",
            "GPUs",
            "network mode bridge",
            "volumes of type tmpfs");
    assertThat(info(EVERYTHING).missing(GREEDY, Requirements.NONE)).isEmpty();
  }

  @Test
  void reportsEveryUndeclaredRequirement() {
    SandboxSpec plain = SandboxSpec.builder(new SandboxId("a")).build();
    Requirements much =
        Requirements.isolation(Isolation.VM)
            .and(Requirements.limits(LimitKind.MEMORY, LimitKind.MEMORY, LimitKind.CPU))
            .and(Requirements.capabilities(Attaching.class, Pausing.class, Forking.class));
    assertThat(info(NOTHING).missing(plain, much))
        .containsExactly(
            "isolation vm",
            "enforcement of the limit on cpu",
            "enforcement of the limit on memory",
            "pausing",
            "forking");
    assertThat(info(NOTHING).missing(plain, Requirements.isolation(Isolation.CONTAINER))).isEmpty();
  }

  @Test
  void theBandwidthOfTheHostsNetworkIsNotEnforced() {
    SandboxSpec.Builder spec = SandboxSpec.builder(new SandboxId("a"));
    Requirements bandwidth = Requirements.limits(LimitKind.BANDWIDTH);
    assertThat(info(EVERYTHING).missing(spec.build(), bandwidth)).isEmpty();
    spec.network(Network.of(NetworkMode.HOST));
    assertThat(info(EVERYTHING).missing(spec.build(), bandwidth))
        .containsExactly("enforcement of the limit on bandwidth");
  }

  @Test
  void theBandwidthOfAFilteredNetworkIsEnforcedForEveryProvider() {
    SandboxSpec filtered =
        SandboxSpec.builder(new SandboxId("a")).network(Network.of(NetworkMode.FILTERED)).build();
    assertThat(NOTHING.enforces(LimitKind.BANDWIDTH, filtered)).isTrue();
    assertThat(NOTHING.enforces(LimitKind.MEMORY, filtered)).isFalse();
    SandboxSpec bridged =
        SandboxSpec.builder(new SandboxId("a")).network(Network.of(NetworkMode.BRIDGE)).build();
    assertThat(NOTHING.enforces(LimitKind.BANDWIDTH, bridged)).isFalse();
  }

  @Test
  void requireSupportedNamesTheMissingFeatures() {
    assertThatThrownBy(() -> info(NOTHING).requireSupported(GREEDY))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("provider bare does not support images, running as another user")
        .hasMessageContaining("GPUs");
    info(EVERYTHING).requireSupported(GREEDY);
    // The isolation level of the provider is no reason to reject a spec; only requirements are.
    info(NOTHING).requireSupported(SandboxSpec.builder(new SandboxId("a")).build());
  }
}
