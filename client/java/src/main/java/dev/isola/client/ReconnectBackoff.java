package dev.isola.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long somebody who follows a stream goes on without success. Not for use by several threads.
 */
final class ReconnectBackoff {
  private static final long FIRST_MS = 50;
  private static final long LONGEST_MS = 1000;

  private final long nanos;
  private @Nullable Long since;
  private long delay = FIRST_MS;

  ReconnectBackoff(Duration time) {
    this.nanos = time.toNanos();
  }

  /** Says that a connection stands. */
  void connected() {
    since = null;
  }

  /** Says that something came through it. */
  void dataReceived() {
    since = null;
    delay = FIRST_MS;
  }

  /** Waits before the next attempt, or throws {@code failure} when there were enough. */
  <E extends Exception> void awaitRetry(E failure) throws E {
    long now = System.nanoTime();
    if (since == null) {
      since = now;
    } else if (now - since > nanos) {
      throw failure;
    }
    RetryDelay.sleep(Duration.ofMillis(delay));
    delay = Math.min(LONGEST_MS, delay * 2);
  }
}
