package dev.isola.server.auth;

import java.time.Instant;
import java.util.Optional;

/**
 * The stored properties of an API key. The key itself is not stored.
 *
 * @param hash SHA-256 of the key in hexadecimal; empty for a sandbox token
 * @param lastUsedAt with a resolution of one minute
 */
public record ApiKey(
    String name, Scope scope, String hash, Instant createdAt, Optional<Instant> lastUsedAt) {

  /**
   * Returns whether this stands for a sandbox token, which must not grant anything that outlives
   * the sandbox.
   */
  public boolean isToken() {
    return hash.isEmpty();
  }

  /**
   * Returns the key that stands for a sandbox token.
   *
   * @param actor its name in the logs, which no key can have
   */
  public static ApiKey token(String actor) {
    return new ApiKey(actor, Scope.USE, "", Instant.EPOCH, Optional.empty());
  }
}
