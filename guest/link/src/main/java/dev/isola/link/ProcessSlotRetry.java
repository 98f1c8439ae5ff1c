package dev.isola.link;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Retries the start of a command when the sandbox has reached its process limit. Most commands are
 * short, so a slot frees up soon. A failed attempt has started nothing, so retrying is safe.
 */
final class ProcessSlotRetry {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(64);
  private static final String EAGAIN = "11";

  private ProcessSlotRetry() {}

  /**
   * Runs {@code start} until a process slot is free. Rethrows the exception of the last attempt.
   */
  static <T> T run(Supplier<T> start) {
    Deadline deadline = Deadline.in(TIMEOUT);
    for (long pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
      try {
        return start.get();
      } catch (SandboxException e) {
        if (!isAtProcessLimit(e) || !deadline.pause(withJitter(pause))) {
          throw e;
        }
      }
    }
  }

  private static boolean isAtProcessLimit(SandboxException e) {
    return e.code() == ErrorCode.RESOURCE_LIMIT && EAGAIN.equals(e.context().get("errno"));
  }

  /** Returns a random time around a pause, since many callers may wait for the same slot. */
  private static Duration withJitter(long nanos) {
    return Duration.ofNanos(nanos / 2 + ThreadLocalRandom.current().nextLong(nanos));
  }
}
