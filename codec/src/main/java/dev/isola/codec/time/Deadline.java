package dev.isola.codec.time;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A point in time by which an operation must end. It does not depend on the clock of the machine,
 * which may be set meanwhile.
 *
 * @param at the time, as of {@link System#nanoTime()}
 * @param whole the total duration, for messages
 */
public record Deadline(long at, Duration whole) {
  /** A longer time would overflow {@link System#nanoTime()}. */
  private static final Duration LONGEST = Duration.ofDays(100 * 365);

  private static final long MILLISECOND = 1_000_000;

  /** A condition that may fail to be found out. */
  @FunctionalInterface
  public interface Condition<E extends Exception> {
    boolean holds() throws E;
  }

  public static Deadline in(Duration time) {
    Duration limited = time.compareTo(LONGEST) < 0 ? time : LONGEST;
    return new Deadline(System.nanoTime() + limited.toNanos(), time);
  }

  /** Returns the earlier of this deadline and {@code time} from now. */
  public Deadline within(Duration time) {
    return left().compareTo(time) <= 0 ? this : in(time);
  }

  /**
   * Returns the remaining time, at least a millisecond, because a timeout of zero often means no
   * timeout, and many are whole milliseconds.
   */
  public Duration left() {
    return Duration.ofNanos(Math.max(MILLISECOND, leftNanos()));
  }

  /** Returns the remaining time, or throws if there is none. */
  public <E extends Exception> Duration leftOrElseThrow(Supplier<E> late) throws E {
    if (over()) {
      throw late.get();
    }
    return left();
  }

  /** Returns the remaining time, which is zero or negative once the deadline is over. */
  public long leftNanos() {
    return at - System.nanoTime();
  }

  public boolean over() {
    return leftNanos() <= 0;
  }

  /**
   * Waits for an interval, but not beyond this deadline.
   *
   * @return false if the deadline is over, or this thread is interrupted; its interrupted status
   *     remains set
   */
  public boolean pause(Duration interval) {
    long left = leftNanos();
    if (left <= 0 || Thread.currentThread().isInterrupted()) {
      return false;
    }
    LockSupport.parkNanos(this, Math.min(left, interval.toNanos()));
    return !Thread.currentThread().isInterrupted();
  }

  /**
   * Tests a condition at once and then once every interval until it holds.
   *
   * @return false if it did not hold before the deadline was over, or this thread is interrupted;
   *     its interrupted status remains set
   */
  public <E extends Exception> boolean await(Duration interval, Condition<E> condition) throws E {
    while (!condition.holds()) {
      if (!pause(interval)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Does the same as {@link #await}, but continues to wait if this thread is interrupted, for work
   * that must not be left undone. Its interrupted status is set again at the end.
   */
  public <E extends Exception> boolean awaitUninterruptibly(
      Duration interval, Condition<E> condition) throws E {
    boolean interrupted = false;
    try {
      while (!await(interval, condition)) {
        if (over()) {
          return false;
        }
        interrupted |= Thread.interrupted();
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
