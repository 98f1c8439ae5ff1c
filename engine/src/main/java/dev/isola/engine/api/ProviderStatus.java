package dev.isola.engine.api;

import dev.isola.spi.Health;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.ProviderInfo;
import java.time.Instant;
import java.util.Optional;

/**
 * The result of the last probe of a provider.
 *
 * @param info empty until the provider has reported it; the provider is then unhealthy
 * @param resources the resources of the machine that runs its sandboxes, if it reports them
 * @param at the time of the probe
 */
public record ProviderStatus(
    String name,
    Optional<ProviderInfo> info,
    Health health,
    Optional<HostResources> resources,
    Instant at) {
  public ProviderStatus {
    if (info.isEmpty() && health.usable()) {
      throw new IllegalArgumentException(name + " is usable but has not reported its info");
    }
  }

  /** Creates a status of a provider that does not report its resources. */
  public ProviderStatus(String name, Optional<ProviderInfo> info, Health health, Instant at) {
    this(name, info, health, Optional.empty(), at);
  }

  /** Returns the status of a provider that cannot be used and has never reported its info. */
  public static ProviderStatus unavailable(String name, String reason, String fix, Instant at) {
    return new ProviderStatus(name, Optional.empty(), new Health.Unhealthy(reason, fix), at);
  }

  /** Returns whether the provider creates sandboxes without known defects. */
  public boolean healthy() {
    return health.healthy();
  }

  /** Returns whether the provider creates sandboxes at all, healthy or degraded. */
  public boolean usable() {
    return health.usable();
  }
}
