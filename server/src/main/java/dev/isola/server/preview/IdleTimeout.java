package dev.isola.server.preview;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** Interrupts the calling thread when there has been no progress for too long. */
final class IdleTimeout implements AutoCloseable {
  private enum State {
    WAITING,
    OVER,
    LOST
  }

  private final Thread waiting = Thread.currentThread();
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private final Duration limit;
  private final Thread watch;
  private volatile long moved = System.nanoTime();

  IdleTimeout(Duration limit) {
    this.limit = limit;
    watch = Thread.ofVirtual().name("isola-preview-patience").start(this::waitForExpiry);
  }

  /** Restarts the timeout. */
  void reset() {
    moved = System.nanoTime();
  }

  private void waitForExpiry() {
    try {
      for (long left = limit.toNanos();
          left > 0;
          left = moved + limit.toNanos() - System.nanoTime()) {
        Thread.sleep(Duration.ofNanos(left));
      }
    } catch (InterruptedException e) {
      return;
    }
    if (state.compareAndSet(State.WAITING, State.LOST)) {
      waiting.interrupt();
    }
  }

  boolean isExpired() {
    return state.get() == State.LOST;
  }

  /** Stops the timeout. The thread is not interrupted after this returns. */
  @Override
  public void close() {
    if (state.compareAndSet(State.WAITING, State.OVER)) {
      watch.interrupt();
    } else {
      Thread.interrupted(); // clear the interrupt, which was meant for the wait that is over
      try {
        watch.join();
      } catch (InterruptedException e) {
        return; // this was the interrupt of the timeout
      }
      Thread.interrupted();
    }
  }
}
