package dev.isola.store;

import java.time.Instant;

/** A provider that failed to create the sandbox before another one succeeded, and the reason. */
public record FailedAttempt(String provider, String reason, Instant at) {
  public FailedAttempt {
    at = Micros.truncate(at);
  }
}
