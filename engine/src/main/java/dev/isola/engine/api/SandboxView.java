package dev.isola.engine.api;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The recorded state of one sandbox.
 *
 * @param tenant the tenant that owns it; empty if the installation has no tenants
 * @param spec the spec as a JSON document
 * @param expiresAt when it expires; empty for never
 * @param idleTimeout how long after its last activity it ends; empty for never
 * @param warm whether it came from the warm pool
 * @param pooled whether it is in the warm pool, unclaimed
 * @param cause why it failed or was destroyed
 * @param attempts the failed attempts at other providers
 * @param labels the labels of the client and those of the server, which start with {@code isola.};
 *     sorted
 * @param name chosen by the client
 * @param damage why the record is unreadable; the other fields then hold what could be read
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
    Optional<String> name,
    Optional<String> damage) {

  /** A failed attempt to create the sandbox at another provider. */
  public record Attempt(String provider, String reason, Instant at) {}

  /**
   * Returns the request that the sandbox was created with, without the values of its secret
   * variables.
   *
   * @throws dev.isola.spi.error.Conflict if the record is unreadable
   */
  public CreateRequest request() {
    return SpecCodec.decode(spec, id);
  }

  /** Returns the names of the secret variables of the {@link #request}. */
  public List<String> secretNames() {
    return SpecCodec.secretNames(spec, id);
  }
}
