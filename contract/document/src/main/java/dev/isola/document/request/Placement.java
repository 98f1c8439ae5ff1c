package dev.isola.document.request;

import dev.isola.spi.provider.Requirements;
import java.util.Optional;

/**
 * Where a sandbox may be made.
 *
 * @param workload what it is for
 * @param requirements what the provider must be and do; its isolation is the floor of this request,
 *     and that of the installation may be higher
 * @param strictNoFallback whether the client takes the provider it named and no other, without any
 *     exception
 * @param region the label that the provider must have in the configuration
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

  /** Returns the same placement with providers of one region only. */
  public Placement inRegion(String label) {
    return new Placement(provider, workload, requirements, strictNoFallback, Optional.of(label));
  }
}
