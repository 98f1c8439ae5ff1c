package dev.isola.provider.memory.process;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** One thread that starts others when their time has come. */
public final class Timers {
  private static final ScheduledExecutorService CLOCK =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("memory timers").factory());

  private Timers() {}

  public static Future<?> after(Duration delay, Runnable action) {
    return CLOCK.schedule(
        () -> Thread.ofVirtual().name("memory timer").start(action),
        delay.toNanos(),
        TimeUnit.NANOSECONDS);
  }
}
