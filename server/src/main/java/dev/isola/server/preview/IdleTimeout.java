package dev.isola.server.preview;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** Interrupts the calling thread when there has been no progress for too long. */
final class IdleTimeout implements AutoCloseable {
  private enum State {
    RUNNING,
    CLOSED,
    EXPIRED
  }

  private final Thread thread = Thread.currentThread();
  private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
  private final Duration limit;
  private final Thread timer;
  private volatile long lastProgress = System.nanoTime();

  IdleTimeout(Duration limit) {
    this.limit = limit;
    timer = Thread.ofVirtual().name("isola-preview-timeout").start(this::waitForExpiry);
  }

  /** Restarts the timeout. */
  void reset() {
    lastProgress = System.nanoTime();
  }

  private void waitForExpiry() {
    try {
      for (long remaining = limit.toNanos();
          remaining > 0;
          remaining = lastProgress + limit.toNanos() - System.nanoTime()) {
        Thread.sleep(Duration.ofNanos(remaining));
      }
    } catch (InterruptedException e) {
      return;
    }
    if (state.compareAndSet(State.RUNNING, State.EXPIRED)) {
      thread.interrupt();
    }
  }

  boolean isExpired() {
    return state.get() == State.EXPIRED;
  }

  /** Stops the timeout. The thread is not interrupted after this returns. */
  @Override
  public void close() {
    if (state.compareAndSet(State.RUNNING, State.CLOSED)) {
      timer.interrupt();
    } else {
      Thread.interrupted(); // clear the interrupt, which was meant for the wait that is over
      try {
        timer.join();
      } catch (InterruptedException e) {
        return; // this was the interrupt of the timeout
      }
      Thread.interrupted();
    }
  }
}
