package dev.isola.server.auth;

import java.time.Instant;
import java.util.Optional;

/**
 * What is known of a key. The key itself is known to nobody here.
 *
 * @param hash SHA-256 of the key, in hexadecimal digits
 * @param lastUsedAt to the minute
 */
public record ApiKey(
    String name, Scope scope, String hash, Instant createdAt, Optional<Instant> lastUsedAt) {

  /** Tells whether this is a token of one sandbox, which may not open what outlives it. */
  public boolean isToken() {
    return name.equals(Actor.SANDBOX_TOKEN) || name.equals(Actor.ENVD_TOKEN);
  }
}
