package dev.isola.link;

import java.time.Duration;

/**
 * A point in time by which an operation must end.
 *
 * @param at the time, as of {@link System#nanoTime()}
 * @param whole the total duration, for messages
 */
public record Deadline(long at, Duration whole) {
  public static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos(), time);
  }

  /** Returns the earlier of this deadline and {@code time} from now. */
  public Deadline within(Duration time) {
    return left().compareTo(time) <= 0 ? this : in(time);
  }

  /** Returns the remaining time, at least a minimum, because a timeout of zero means no timeout. */
  public Duration left() {
    return Duration.ofNanos(Math.max(1, at - System.nanoTime()));
  }

  public boolean over() {
    return at - System.nanoTime() <= 0;
  }
}
