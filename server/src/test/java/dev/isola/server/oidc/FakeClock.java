package dev.isola.server.oidc;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/** A clock that a test sets. */
final class FakeClock implements InstantSource {
  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.now());

  @Override
  public Instant instant() {
    return now.get();
  }

  void advance(Duration time) {
    now.updateAndGet(instant -> instant.plus(time));
  }
}
