package dev.isola.engine.api;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of an engine at one moment.
 *
 * @param number increases with every sample of a process
 * @param sandboxes the number of sandboxes in each state, without the warm pool
 * @param expiringSoon the number of sandboxes that expire within ten minutes
 * @param warmReady the number of ready sandboxes in the warm pool
 * @param warmTarget the configured number
 * @param createsInLastMinute the number of sandboxes created in the last minute
 * @param create percentiles of recent create requests; empty if there were none
 * @param execution percentiles of recent commands; empty if there were none
 * @param fallbacks the number of sandboxes that the first choice could not create, since the start
 * @param egressDenials the number of denied connections to other hosts since the start
 */
public record EngineSample(
    long number,
    Instant at,
    Map<SandboxState, Long> sandboxes,
    long expiringSoon,
    long warmReady,
    int warmTarget,
    long createsInLastMinute,
    Optional<DurationPercentiles> create,
    Optional<DurationPercentiles> execution,
    long fallbacks,
    long egressDenials,
    double requestsPerSecond,
    List<ProviderStatus> providers,
    CapacityUsage capacity) {
  public EngineSample {
    sandboxes = Map.copyOf(sandboxes);
    providers = List.copyOf(providers);
  }
}
