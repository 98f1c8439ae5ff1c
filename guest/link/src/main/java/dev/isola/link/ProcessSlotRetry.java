package dev.isola.link;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Starting a command where others take all the processes the sandbox may have. Most commands are
 * short: who waits a moment finds room. Nothing was started, so it is safe to ask again.
 */
final class ProcessSlotRetry {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(64);
  private static final String EAGAIN = "11";

  private ProcessSlotRetry() {}

  /** Starts it as soon as there is room. Throws what the last attempt threw. */
  static <T> T run(Supplier<T> start) {
    long began = System.nanoTime();
    for (long pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
      try {
        return start.get();
      } catch (SandboxException e) {
        if (!isFull(e) || System.nanoTime() - began > TIMEOUT.toNanos() || !slept(pause)) {
          throw e;
        }
      }
    }
  }

  private static boolean isFull(SandboxException e) {
    return e.code() == ErrorCode.RESOURCE_LIMIT && EAGAIN.equals(e.context().get("errno"));
  }

  /** Many wait for the same room: each some other time. Returns whether nobody interrupted. */
  private static boolean slept(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos / 2 + ThreadLocalRandom.current().nextLong(nanos));
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
