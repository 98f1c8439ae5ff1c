package dev.isola.provider.docker;

import dev.isola.spi.Hosting;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Builds the provider info. */
record DockerDescription(
    EngineVariant variant,
    DockerProviderSettings settings,
    DockerSpecCheck check,
    BootIds bootIds) {
  private static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class,
          Pausing.class,
          Snapshotting.class,
          Volumes.class);

  ProviderInfo of(EngineInfo engineInfo) {
    List<Prerequisite> requirements =
        new ArrayList<>(new EngineCheck(variant, settings).requirements(engineInfo));
    if (!variant.hasOwnKernel()) { // The guest kernel has its own.
      requirements.add(bootIds.prerequisite());
    }
    return of(engineInfo.limits(), requirements);
  }

  /** Returns the info to report while the engine is unreachable. */
  ProviderInfo unavailable(Fault why) {
    return of(
        EnumSet.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT),
        List.of(new Prerequisite("container engine", true, false, why.problem(), why.remedy())));
  }

  private ProviderInfo of(Set<LimitKind> limits, List<Prerequisite> requirements) {
    return new ProviderInfo(
        variant.name(),
        variant.summary(),
        ApiVersion.CURRENT,
        variant.isolation(),
        capabilities(),
        new SpecSupport(check.features(), check.networks(), check.volumes(), enforced(limits)),
        requirements,
        "the engine kills the agent, whose pid namespace contains all processes of the sandbox, and"
            + " removes the container",
        variant.startup(),
        Hosting.DAEMON);
  }

  private Set<LimitKind> enforced(Set<LimitKind> limits) {
    Set<LimitKind> kinds = EnumSet.copyOf(limits);
    if (variant.hasOwnKernel()) {
      kinds.remove(LimitKind.PROCESSES);
      kinds.remove(LimitKind.THREADS);
      kinds.add(LimitKind.KERNEL_OBJECTS); // The guest kernel has its own.
    }
    return kinds;
  }

  Set<Class<? extends Capability>> capabilities() {
    Set<Class<? extends Capability>> given = new HashSet<>(CAPABILITIES);
    if (variant.guest() == EngineVariant.ExpectedKernel.GVISOR
        && !new GvisorCheck(settings).terminals()) {
      given.remove(Terminals.class);
    }
    return given;
  }
}
