package dev.isola.server.auth;

import java.time.Instant;
import java.util.Optional;

/**
 * What is known of a key. The key itself is known to nobody here.
 *
 * @param hash SHA-256 of the key, in hexadecimal digits; empty for the token of a sandbox
 * @param lastUsedAt to the minute
 */
public record ApiKey(
    String name, Scope scope, String hash, Instant createdAt, Optional<Instant> lastUsedAt) {

  /** Tells whether this is a token of one sandbox, which may not open what outlives it. */
  public boolean isToken() {
    return hash.isEmpty();
  }

  /**
   * Returns what the token of a sandbox counts as.
   *
   * @param actor the name of its bearer in the logs, which no key can have
   */
  public static ApiKey token(String actor) {
    return new ApiKey(actor, Scope.USE, "", Instant.EPOCH, Optional.empty());
  }
}
