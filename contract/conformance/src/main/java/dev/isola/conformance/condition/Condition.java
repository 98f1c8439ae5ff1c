package dev.isola.conformance.condition;

import dev.isola.codec.time.Deadline;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for conditions that nothing announces. */
public final class Condition {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

  private Condition() {}

  /**
   * Waits until {@code condition} holds; returns false if it does not within {@code timeout}, or
   * this thread is interrupted.
   */
  public static boolean holdsWithin(Duration timeout, BooleanSupplier condition) {
    return Deadline.in(timeout).await(POLL_INTERVAL, condition::getAsBoolean);
  }
}
