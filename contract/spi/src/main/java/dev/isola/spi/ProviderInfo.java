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
 * @param hosting what has to run for its sandboxes
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
    Duration startup,
    Hosting hosting) {
  public ProviderInfo {
    capabilities = Set.copyOf(capabilities);
    requirements = List.copyOf(requirements);
  }

  /** Describes a provider that starts sandboxes itself, on this machine. */
  public ProviderInfo(
      String name,
      String summary,
      ApiVersion apiVersion,
      Isolation isolation,
      Set<Class<? extends Capability>> capabilities,
      SpecSupport support,
      List<Requirement> requirements,
      String cleanup,
      Duration startup) {
    this(
        name,
        summary,
        apiVersion,
        isolation,
        capabilities,
        support,
        requirements,
        cleanup,
        startup,
        Hosting.LOCAL);
  }

  /** Returns the facts by which providers are ordered. */
  public ProviderProfile profile() {
    return new ProviderProfile(isolation, hosting, startup);
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
        throw Capability.unsupported(name, Capability.idOf(capability));
      }
    }
    support.refuseUnenforced(name, spec);
  }
}
