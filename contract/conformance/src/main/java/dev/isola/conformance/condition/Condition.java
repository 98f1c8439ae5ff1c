package dev.isola.conformance.condition;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions that nothing announces. */
public final class Condition {
  private Condition() {}

  /**
   * Waits until {@code condition} holds; returns false if it does not within {@code timeout}, or
   * this thread is interrupted.
   */
  public static boolean holdsWithin(Duration timeout, BooleanSupplier condition) {
    long until = System.nanoTime() + timeout.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - until >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(5_000_000);
    }
    return true;
  }
}
