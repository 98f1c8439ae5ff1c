package dev.isola.testing.provider;

import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/**
 * Describes the test provider: as {@code subprocess}, with its own capabilities and the false
 * declarations of planted faults.
 */
final class TestProviderInfo {
  private TestProviderInfo() {}

  static ProviderInfo of(ProviderInfo processes, PlantedFaults faults) {
    SpecSupport support = processes.support();
    return new ProviderInfo(
        TestProviderFactory.NAME,
        "a test double: plain processes, with faults to plant",
        processes.apiVersion(),
        isolation(faults),
        capabilities(processes.capabilities(), faults),
        new SpecSupport(
            features(support),
            NetworkNamespace.available()
                ? Set.of(NetworkMode.HOST, NetworkMode.NONE)
                : support.networkModes(),
            faults.has(PlantedFault.VOLUME_FOLLOWS_LINKS)
                ? Set.of(VolumeMount.Type.BIND)
                : Set.of(),
            limits(support.enforcedLimits(), faults)),
        processes.prerequisites(),
        processes.cleanup(),
        TestProviderFactory.PROFILE.startup());
  }

  /** Omits host folders, because tests send generated requests. */
  private static Set<SpecFeature> features(SpecSupport processes) {
    Set<SpecFeature> features = EnumSet.noneOf(SpecFeature.class);
    features.addAll(processes.features());
    features.remove(SpecFeature.WORKSPACE_PATH);
    return features;
  }

  private static Isolation isolation(PlantedFaults faults) {
    return faults.has(PlantedFault.RUNS_ON_THE_BARE_HOST)
            || faults.has(PlantedFault.LIMIT_NOT_VISIBLE)
        ? Isolation.CONTAINER
        : TestProviderFactory.PROFILE.isolation();
  }

  private static Set<Class<? extends Capability>> capabilities(
      Set<Class<? extends Capability>> real, PlantedFaults faults) {
    Set<Class<? extends Capability>> capabilities = new HashSet<>(real);
    if (faults.has(PlantedFault.DECLARES_TOO_MUCH)) {
      capabilities.add(PortDialing.class);
    }
    return capabilities;
  }

  private static Set<LimitKind> limits(Set<LimitKind> enforced, PlantedFaults faults) {
    Set<LimitKind> limits = EnumSet.copyOf(enforced);
    if (faults.has(PlantedFault.DISK_NOT_ENFORCED)
        || faults.has(PlantedFault.UNNAMED_FILES_ARE_FREE)) {
      limits.add(LimitKind.DISK);
    }
    if (faults.has(PlantedFault.PROCESSES_NOT_ENFORCED)) {
      limits.add(LimitKind.PROCESSES);
    }
    if (faults.has(PlantedFault.LIMIT_NOT_VISIBLE)) {
      limits.add(LimitKind.MEMORY);
    }
    return limits;
  }
}
