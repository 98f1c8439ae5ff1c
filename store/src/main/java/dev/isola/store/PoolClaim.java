package dev.isola.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A request for a sandbox of the warm pool, with the values that the claimed sandbox receives. The
 * claim sets the expiry too, so that a crash directly after it does not leave a sandbox without
 * one.
 *
 * @param tenant the tenant that claims; a pooled sandbox of another tenant never matches
 * @param owner the server that claims, if several share the ledger; a sandbox of another server
 *     never matches
 * @param name the name that the sandbox receives; if it is taken, no sandbox matches
 */
public record PoolClaim(
    String specHash,
    String provider,
    String tenant,
    Map<String, String> labels,
    Optional<String> name,
    Optional<Instant> expiresAt,
    Optional<Duration> idleTimeout,
    Optional<String> owner,
    Instant now) {
  public PoolClaim {
    labels = Map.copyOf(labels);
  }

  /** Returns a claim without labels, expiry and idle timeout. */
  public static PoolClaim of(String specHash, String provider, String tenant, Instant now) {
    return new PoolClaim(
        specHash,
        provider,
        tenant,
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        now);
  }
}
