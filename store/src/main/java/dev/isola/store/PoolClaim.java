package dev.isola.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What a claimer wants from the warm pool and what the sandbox becomes by it. The end is part of
 * the claim: a crash right after it leaves nothing that lives for ever.
 *
 * @param tenant who it is for; a pooled sandbox of another tenant never fits
 */
public record PoolClaim(
    String specHash,
    String provider,
    String tenant,
    Map<String, String> labels,
    Optional<Instant> expiresAt,
    Optional<Duration> idleTimeout,
    Instant now) {
  public PoolClaim {
    labels = Map.copyOf(labels);
  }

  /** A claim without labels and without an end. */
  public static PoolClaim of(String specHash, String provider, String tenant, Instant now) {
    return new PoolClaim(
        specHash, provider, tenant, Map.of(), Optional.empty(), Optional.empty(), now);
  }
}
