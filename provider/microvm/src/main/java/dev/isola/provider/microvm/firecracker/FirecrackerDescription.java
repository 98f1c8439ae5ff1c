package dev.isola.provider.microvm.firecracker;

import dev.isola.provider.microvm.MachineHost;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Builds the provider info. */
record FirecrackerDescription(MachineHost host) {
  static final Set<Class<? extends Capability>> AGENT_CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class);

  ProviderInfo info(Set<Class<? extends Capability>> capabilities, FirecrackerCheck check) {
    Set<LimitKind> limits = host.enforced();
    limits.add(LimitKind.THREADS);
    return new ProviderInfo(
        FirecrackerProgram.NAME,
        "virtual machines of Firecracker",
        ApiVersion.CURRENT,
        Isolation.VM,
        capabilities,
        new SpecSupport(
            EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
            EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED),
            Set.of(VolumeMount.Type.TMPFS),
            limits),
        prerequisites(check),
        "one process per machine, in a control group",
        FirecrackerProviderFactory.STARTUP);
  }

  List<Prerequisite> prerequisites(FirecrackerCheck check) {
    List<Prerequisite> prerequisites = new ArrayList<>(check.prerequisites());
    prerequisites.addAll(host.prerequisites());
    return prerequisites;
  }
}
