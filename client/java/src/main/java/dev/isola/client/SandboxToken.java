package dev.isola.client;

import java.time.Instant;

/**
 * A credential for one sandbox, for a client without an API key. Send it as {@code X-Isola-Token}
 * or as a bearer token.
 *
 * @param scope use or preview
 * @param token the secret, which the server returns only this once
 */
public record SandboxToken(String sandbox, String scope, Instant expiresAt, String token) {
  static SandboxToken read(JsonFields fields) {
    return new SandboxToken(
        fields.text("sandbox"),
        fields.text("scope"),
        fields.time("expiresAt"),
        fields.text("token"));
  }

  /** Omits the secret, because tokens may be logged. */
  @Override
  public String toString() {
    return "SandboxToken[sandbox="
        + sandbox
        + ", scope="
        + scope
        + ", expiresAt="
        + expiresAt
        + ", token=***]";
  }
}
