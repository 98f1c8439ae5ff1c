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
    String name, Scope scope, String hash, Instant createdAt, Optional<Instant> lastUsedAt) {}
