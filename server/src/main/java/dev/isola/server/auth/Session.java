package dev.isola.server.auth;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The session of a browser, which stands for the key or the sandbox token that it was created with.
 *
 * @param hash SHA-256 of its secret, which is not stored
 * @param keyName the name of the key; for a token the name of its kind in the logs
 * @param keyHash the hash of the key, so that the session ends when another key gets the name;
 *     empty for a token
 * @param token the claims of the token, if the session stands for one
 */
public record Session(
    String hash,
    String keyName,
    String keyHash,
    Optional<SandboxToken> token,
    Instant createdAt,
    Instant expiresAt) {

  /** How long a session lasts without use. */
  static final Duration IDLE_LIFETIME = Duration.ofHours(12);

  /** How long a session lasts at most. */
  static final Duration MAX_LIFETIME = Duration.ofDays(7);

  /** Returns when a session that is used at {@code now} expires. */
  Instant expiryAfterUse(Instant now) {
    Instant idle = now.plus(IDLE_LIFETIME);
    Instant last = lastExpiry();
    return idle.isBefore(last) ? idle : last;
  }

  /** Returns the latest time at which the session can expire, however much it is used. */
  public Instant lastExpiry() {
    Instant last = createdAt.plus(MAX_LIFETIME);
    return token.map(SandboxToken::expiresAt).filter(last::isAfter).orElse(last);
  }

  Session expiringAt(Instant time) {
    return new Session(hash, keyName, keyHash, token, createdAt, time);
  }

  /** Returns whether both sessions count towards the same limit. */
  boolean hasSameOwner(Session other) {
    return keyName.equals(other.keyName)
        && token.map(SandboxToken::sandbox).equals(other.token.map(SandboxToken::sandbox));
  }
}
