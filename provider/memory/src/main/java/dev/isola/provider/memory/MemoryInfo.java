package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the provider says of itself. */
final class MemoryInfo {
  private MemoryInfo() {}

  static ProviderInfo with(Faults faults) {
    Set<Class<? extends Capability>> capabilities =
        new HashSet<>(
            List.of(
                Attaching.class,
                Terminals.class,
                Watching.class,
                UsageReporting.class,
                Pausing.class,
                Renewing.class,
                Snapshotting.class,
                Forking.class));
    if (faults.has(PlantedFault.DECLARES_TOO_MUCH)) {
      capabilities.add(PortDialing.class);
    }
    return new ProviderInfo(
        MemoryProvider.NAME,
        "a test double in memory; commands are simulated",
        ApiVersion.CURRENT,
        faults.has(PlantedFault.FALLS_THROUGH_TO_THE_HOST)
                || faults.has(PlantedFault.LIMIT_NOT_VISIBLE)
            ? Isolation.CONTAINER
            : Isolation.PROCESS,
        capabilities,
        new SpecSupport(Set.of(), Set.of(NetworkMode.NONE), Set.of(), limits(faults)),
        List.of(),
        "there are no processes: simulated ones are threads of this JVM, told to end and waited"
            + " for",
        Duration.ofMillis(1));
  }

  private static Set<LimitKind> limits(Faults faults) {
    Set<LimitKind> limits = EnumSet.of(LimitKind.TIMEOUT, LimitKind.DISK);
    if (faults.has(PlantedFault.PROCESSES_NOT_ENFORCED)) {
      limits.add(LimitKind.PROCESSES);
    }
    if (faults.has(PlantedFault.LIMIT_NOT_VISIBLE)) {
      limits.add(LimitKind.MEMORY);
    }
    return limits;
  }
}
