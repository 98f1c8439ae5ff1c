package dev.isola.server.auth;

import java.time.Instant;
import java.util.Optional;

/**
 * The stored properties of an API key. The key itself is not stored.
 *
 * @param hash SHA-256 of the key in hexadecimal; empty for a sandbox token
 * @param strictNoFallback whether every sandbox that is created with the key is created by the
 *     provider that the request names, or not at all
 * @param lastUsedAt with a resolution of one minute
 */
public record ApiKey(
    String name,
    Scope scope,
    String hash,
    boolean strictNoFallback,
    Instant createdAt,
    Optional<Instant> lastUsedAt) {

  /**
   * Returns whether this stands for a sandbox token, which must not grant anything that outlives
   * the sandbox.
   */
  public boolean isToken() {
    return hash.isEmpty();
  }

  ApiKey usedAt(Instant time) {
    return new ApiKey(name, scope, hash, strictNoFallback, createdAt, Optional.of(time));
  }

  ApiKey withStrictNoFallback(boolean strict) {
    return new ApiKey(name, scope, hash, strict, createdAt, lastUsedAt);
  }

  /**
   * Returns the key that stands for a sandbox token.
   *
   * @param actor its name in the logs, which no key can have
   */
  public static ApiKey token(String actor, Scope scope) {
    return new ApiKey(actor, scope, "", false, Instant.EPOCH, Optional.empty());
  }
}
