package dev.isola.engine.health;

import java.time.Duration;

/** Waits; given, so that a test decides when time has passed. */
@FunctionalInterface
public interface Pause {
  Pause REAL = Thread::sleep;

  void last(Duration time) throws InterruptedException;
}
