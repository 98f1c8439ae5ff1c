package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The records of the SPI make defensive copies. */
class RecordsTest {

  @Test
  void providerInfo() {
    Set<Class<? extends Capability>> capabilities = new HashSet<>(Set.of(Attaching.class));
    List<Prerequisite> requirements = new ArrayList<>();
    SpecSupport support = new SpecSupport(Set.of(), Set.of(), Set.of(), Set.of());
    ProviderInfo info =
        new ProviderInfo(
            "memory",
            "a test double",
            ApiVersion.CURRENT,
            Isolation.PROCESS,
            capabilities,
            support,
            requirements,
            "nothing to clean",
            Duration.ofMillis(1));
    capabilities.clear();
    requirements.add(new Prerequisite("kvm", true, false, "no /dev/kvm", "load the module"));

    assertThat(info.capabilities()).containsExactly(Attaching.class);
    assertThat(info.prerequisites()).isEmpty();
  }

  @Test
  void specSupport() {
    Set<NetworkMode> modes = new HashSet<>(Set.of(NetworkMode.NONE));
    Set<VolumeMount.Type> types = new HashSet<>(Set.of(VolumeMount.Type.BIND));
    Set<LimitKind> limits = new HashSet<>(Set.of(LimitKind.CPU));
    Set<SpecFeature> features = new HashSet<>(Set.of(SpecFeature.USERS));
    SpecSupport support = new SpecSupport(features, modes, types, limits);
    features.clear();
    modes.clear();
    types.clear();
    limits.clear();

    assertThat(support.features()).containsExactly(SpecFeature.USERS);
    assertThat(support.networkModes()).containsExactly(NetworkMode.NONE);
    assertThat(support.volumeTypes()).containsExactly(VolumeMount.Type.BIND);
    assertThat(support.enforcedLimits()).containsExactly(LimitKind.CPU);
  }

  @Test
  void inventoryItemAndProviderConfig() {
    Map<String, String> map = new HashMap<>(Map.of("pid", "1"));
    InventoryItem item =
        new InventoryItem(new SandboxId("a"), SandboxState.RUNNING, Instant.EPOCH, map);
    ProviderConfig config = new ProviderConfig(map);
    map.clear();

    assertThat(item.details()).containsEntry("pid", "1");
    assertThat(config.get("pid")).contains("1");
    assertThat(config.get("socket")).isEmpty();
    assertThat(ProviderConfig.EMPTY.settings()).isEmpty();
  }

  @Test
  void health() {
    assertThat(new Health.Healthy("ok").healthy()).isTrue();
    assertThat(new Health.Unhealthy("no bwrap", "apt install bubblewrap").healthy()).isFalse();
  }
}
