package dev.isola.document.request;

import dev.isola.spi.Requirements;

/**
 * Where a sandbox may be made.
 *
 * @param workload what it is for
 * @param requirements what the provider must be and do; its isolation is the floor of this request,
 *     and that of the installation may be higher
 * @param strictNoFallback whether the client takes the provider it named and no other, without any
 *     exception
 */
public record Placement(
    ProviderPreference provider,
    Workload workload,
    Requirements requirements,
    boolean strictNoFallback) {
  public static final Placement DEFAULT =
      new Placement(
          ProviderPreference.AUTO, Workload.AGENT_WORKSPACE, Requirements.NONE, false);

  public Placement withProvider(ProviderPreference preference) {
    return new Placement(preference, workload, requirements, strictNoFallback);
  }

  public Placement withWorkload(Workload purpose) {
    return new Placement(provider, purpose, requirements, strictNoFallback);
  }

  public Placement withRequirements(Requirements needs) {
    return new Placement(provider, workload, needs, strictNoFallback);
  }

  public Placement strict() {
    return new Placement(provider, workload, requirements, true);
  }
}
