package dev.isola.engine.health;

import java.time.Duration;

/** Waits; given, so that a test decides when time has passed. */
@FunctionalInterface
public interface Sleeper {
  Sleeper SYSTEM = Thread::sleep;

  void sleep(Duration time) throws InterruptedException;
}
