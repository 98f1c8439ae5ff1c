package dev.isola.store;

import java.time.Instant;

/** One provider that was tried before the one that made the sandbox, and why it did not. */
public record Attempt(String provider, String reason, Instant at) {
  public Attempt {
    at = Micros.truncate(at);
  }
}
