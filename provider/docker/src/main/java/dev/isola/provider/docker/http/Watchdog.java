package dev.isola.provider.docker.http;

import dev.isola.codec.time.Deadline;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Closes resources at their deadline, which is the only way to end a blocked read. */
final class Watchdog {
  private static final ScheduledThreadPoolExecutor TIMER = timer();

  private Watchdog() {}

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("engine-deadlines").daemon().factory());
    timer.setRemoveOnCancelPolicy(true);
    timer.setKeepAliveTime(10, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    return timer;
  }

  static ScheduledFuture<?> at(Deadline deadline, Runnable end) {
    return TIMER.schedule(end, deadline.left().toNanos(), TimeUnit.NANOSECONDS);
  }
}
