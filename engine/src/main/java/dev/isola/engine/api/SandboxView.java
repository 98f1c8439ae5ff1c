package dev.isola.engine.api;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the engine tells of one sandbox.
 *
 * @param tenant the tenant that it belongs to; empty text when there are no tenants
 * @param spec the spec as a JSON document
 * @param expiresAt when it expires; empty for never
 * @param idleTimeout how long after its last activity it ends; empty for never
 * @param warm whether it came from the warm pool
 * @param pooled whether it is in the pool, unclaimed
 * @param cause why it failed or was destroyed
 * @param attempts providers that were tried before
 * @param labels the caller's own and those of the server, which begin with {@code isola.}; sorted
 * @param damage why its record cannot be read; then the other fields are what could be read
 */
public record SandboxView(
    SandboxId id,
    String tenant,
    String spec,
    String provider,
    Isolation isolation,
    SandboxState state,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Duration> idleTimeout,
    Instant lastActivity,
    boolean warm,
    boolean pooled,
    Optional<String> cause,
    List<Attempt> attempts,
    Map<String, String> labels,
    Optional<String> damage) {

  /** A provider that was tried before the one that made the sandbox, and why it did not. */
  public record Attempt(String provider, String reason, Instant at) {}
}
