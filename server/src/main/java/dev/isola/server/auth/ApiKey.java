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

  /** Stands for all tokens of sandboxes; no key can have this name. */
  static final String TOKEN = "(sandbox token)";

  /** Tells whether this is a token of one sandbox, which may not open what outlives it. */
  public boolean isToken() {
    return name.equals(TOKEN);
  }
}
