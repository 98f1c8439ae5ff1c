package dev.isola.engine.api;

import dev.isola.spi.Health;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.ProviderInfo;
import java.time.Instant;
import java.util.Optional;

/**
 * How a provider stands: what it last said of itself, and when.
 *
 * @param info empty while it has never said anything; then it is unhealthy
 * @param resources of the machine that runs its sandboxes, as far as it can tell
 * @param at when this was found out
 */
public record ProviderStatus(
    String name,
    Optional<ProviderInfo> info,
    Health health,
    Optional<HostResources> resources,
    Instant at) {
  public ProviderStatus {
    if (info.isEmpty() && health.usable()) {
      throw new IllegalArgumentException(name + " is usable and has said nothing of itself");
    }
  }

  /** A provider that does not tell what its machine has. */
  public ProviderStatus(String name, Optional<ProviderInfo> info, Health health, Instant at) {
    this(name, info, health, Optional.empty(), at);
  }

  /** A provider that cannot be used and never said anything. */
  public static ProviderStatus unavailable(String name, String reason, String fix, Instant at) {
    return new ProviderStatus(name, Optional.empty(), new Health.Unhealthy(reason, fix), at);
  }

  /** Tells whether it makes sandboxes without known defects. */
  public boolean healthy() {
    return health.healthy();
  }

  /** Tells whether it makes sandboxes at all. */
  public boolean usable() {
    return health.usable();
  }
}
