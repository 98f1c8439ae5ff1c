package dev.isola.store;

import java.time.Instant;

/** One provider that was tried before the one that made the sandbox, and why it did not. */
public record FailedAttempt(String provider, String reason, Instant at) {
  public FailedAttempt {
    at = Micros.truncate(at);
  }
}
