package dev.isola.egress.http;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Closes both sides of a proxied connection if nothing is transferred for a time, or if a step
 * exceeds its deadline. A blocked read or write ends by that.
 */
final class ConnectionMonitor implements AutoCloseable {
  private static final ScheduledThreadPoolExecutor TIMER = timer();

  private final List<Closeable> connections = new CopyOnWriteArrayList<>();
  private final long idleNanos;
  private volatile long lastProgress = System.nanoTime();
  private volatile boolean closed;
  private volatile Future<?> idleCheck;

  /** A limit on the duration of a step. */
  interface Deadline extends AutoCloseable {
    @Override
    void close();
  }

  ConnectionMonitor(Duration idle) {
    idleNanos = idle.toNanos();
    idleCheck = schedule(this::checkIdle, idleNanos);
  }

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("egress-timer").factory());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  private static Future<?> schedule(Runnable action, long nanos) {
    // Closing a connection may block, and must not delay other timers.
    return TIMER.schedule(() -> Thread.startVirtualThread(action), nanos, TimeUnit.NANOSECONDS);
  }

  /** Runs an action after a delay, on a thread of its own, unless the monitor is closed by then. */
  void after(Duration delay, Runnable action) {
    Future<?> _ =
        schedule(
            () -> {
              if (!closed) {
                action.run();
              }
            },
            delay.toNanos());
  }

  void add(Closeable connection) {
    connections.add(connection);
    if (closed) {
      closeAll();
    }
  }

  void progress() {
    lastProgress = System.nanoTime();
  }

  Deadline deadline(Duration limit) {
    Future<?> end = schedule(this::close, limit.toNanos());
    return () -> end.cancel(false);
  }

  private void checkIdle() {
    long left = idleNanos - (System.nanoTime() - lastProgress);
    if (left <= 0) {
      close();
    } else if (!closed) {
      idleCheck = schedule(this::checkIdle, left);
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    closed = true;
    idleCheck.cancel(false);
    closeAll();
  }

  private void closeAll() {
    for (Closeable connection : connections) {
      try {
        connection.close();
      } catch (IOException ignored) {
        // Nothing more can be done if closing fails.
      }
    }
  }
}
