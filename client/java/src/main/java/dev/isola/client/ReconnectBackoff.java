package dev.isola.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Backoff between reconnection attempts, up to a total time without success. Not thread-safe. */
final class ReconnectBackoff {
  private static final long INITIAL_MS = 50;
  private static final long MAX_MS = 1000;

  private final long nanos;
  private @Nullable Long failingSince;
  private long delay = INITIAL_MS;

  ReconnectBackoff(Duration time) {
    this.nanos = time.toNanos();
  }

  /** Records that a connection was established. */
  void connected() {
    failingSince = null;
  }

  /** Records that data was received, which resets the delay. */
  void dataReceived() {
    failingSince = null;
    delay = INITIAL_MS;
  }

  /** Waits before the next attempt, or throws {@code failure} if the time is up. */
  <E extends Exception> void awaitRetry(E failure) throws E {
    long now = System.nanoTime();
    if (failingSince == null) {
      failingSince = now;
    } else if (now - failingSince > nanos) {
      throw failure;
    }
    RetryDelay.sleep(Duration.ofMillis(delay));
    delay = Math.min(MAX_MS, delay * 2);
  }
}
