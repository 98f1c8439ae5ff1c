package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Locale;

/**
 * The claims of a sandbox token.
 *
 * @param port the port of a preview; 0 for every port
 */
public record SandboxToken(Kind kind, SandboxId sandbox, int port, Instant expiresAt) {

  /** The purpose of a token. */
  public enum Kind {
    /** Allows what scope use allows in this sandbox, except issuing tokens and publishing ports. */
    USE,
    /** Allows what scope read allows in this sandbox. */
    READ,
    /** Allows access to its ports. */
    PREVIEW;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the kind with this {@link #word()}. */
    public static Kind of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }
  }

  /** Returns whether the token grants access to a port of a sandbox. */
  public boolean opens(SandboxId id, int requestedPort) {
    return kind != Kind.READ && sandbox.equals(id) && (port == 0 || port == requestedPort);
  }
}
