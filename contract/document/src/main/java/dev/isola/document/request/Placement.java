package dev.isola.document.request;

import dev.isola.spi.provider.Requirements;
import java.util.Optional;

/**
 * Where a sandbox may be created.
 *
 * @param workload the purpose of the sandbox
 * @param requirements what the provider must support; its isolation is the floor of this request,
 *     and that of the installation may be higher
 * @param strictNoFallback whether the client accepts only the provider that it named
 * @param region the region label that the provider must have in the configuration
 */
public record Placement(
    ProviderPreference provider,
    Workload workload,
    Requirements requirements,
    boolean strictNoFallback,
    Optional<String> region) {
  public static final Placement DEFAULT =
      new Placement(
          ProviderPreference.AUTO,
          Workload.AGENT_WORKSPACE,
          Requirements.NONE,
          false,
          Optional.empty());

  public Placement withProvider(ProviderPreference preference) {
    return new Placement(preference, workload, requirements, strictNoFallback, region);
  }

  public Placement withWorkload(Workload purpose) {
    return new Placement(provider, purpose, requirements, strictNoFallback, region);
  }

  public Placement withRequirements(Requirements needs) {
    return new Placement(provider, workload, needs, strictNoFallback, region);
  }

  public Placement strict() {
    return new Placement(provider, workload, requirements, true, region);
  }

  /** Returns this placement restricted to providers of one region. */
  public Placement inRegion(String label) {
    return new Placement(provider, workload, requirements, strictNoFallback, Optional.of(label));
  }
}
