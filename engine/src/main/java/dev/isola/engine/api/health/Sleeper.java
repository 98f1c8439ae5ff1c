package dev.isola.engine.api.health;

import java.time.Duration;

/** Sleeps. Injected, so that tests control time. */
@FunctionalInterface
public interface Sleeper {
  Sleeper SYSTEM = Thread::sleep;

  void sleep(Duration time) throws InterruptedException;
}
