package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Locale;

/**
 * What a token allows, in one sandbox and until then.
 *
 * @param port of previews; 0 for every port
 */
public record SandboxToken(Kind kind, SandboxId sandbox, int port, Instant expiresAt) {

  /** What a token is for. */
  public enum Kind {
    /** Everything that scope use allows in this sandbox, but making tokens and opening ports. */
    USE,
    /** Looking at its ports. */
    PREVIEW;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Tells whether it opens a port of a sandbox. */
  public boolean opens(SandboxId id, int wanted) {
    return sandbox.equals(id) && (port == 0 || port == wanted);
  }
}
