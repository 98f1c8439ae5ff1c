package dev.isola.spi;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What a provider says of itself. Everything declared is true on this machine now, not in general.
 *
 * @param name stable and unique; used in config, answers and stored records
 * @param apiVersion of the specs it takes
 * @param cleanup how it makes sure that a sandbox's processes are all gone, in words
 * @param startup an estimate of how long create takes
 */
public record ProviderInfo(
    String name,
    String summary,
    ApiVersion apiVersion,
    Isolation isolation,
    Set<Class<? extends Capability>> capabilities,
    SpecSupport support,
    List<Requirement> requirements,
    String cleanup,
    Duration startup) {
  public ProviderInfo {
    capabilities = Set.copyOf(capabilities);
    requirements = List.copyOf(requirements);
  }

  /**
   * Refuses a spec that requires more than is declared here. The engine asks nobody who would, but
   * not everybody asks through the engine.
   *
   * @throws dev.isola.spi.error.Unsupported naming the first thing that is missing
   */
  public void refuseUnmet(SandboxSpec spec) {
    if (!isolation.isAtLeast(spec.require().isolation())) {
      throw Capability.unsupported(
          name, "isolation " + spec.require().isolation().name().toLowerCase(Locale.ROOT));
    }
    for (Class<? extends Capability> capability : Capability.all()) {
      if (spec.require().capabilities().contains(capability)
          && !capabilities.contains(capability)) {
        throw Capability.unsupported(name, Capability.nameOf(capability));
      }
    }
    support.refuseUnenforced(name, spec);
  }
}
