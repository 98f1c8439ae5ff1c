package dev.isola.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/** A clock that a test advances. */
public final class FakeClock implements InstantSource {
  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));

  @Override
  public Instant instant() {
    return now.get();
  }

  public void pass(Duration time) {
    now.updateAndGet(before -> before.plus(time));
  }
}
