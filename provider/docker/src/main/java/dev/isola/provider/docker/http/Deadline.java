package dev.isola.provider.docker.http;

import java.time.Duration;

/**
 * A moment until which something must be done.
 *
 * @param at on the clock of {@link System#nanoTime()}
 * @param whole how long there was from the beginning, for messages
 */
public record Deadline(long at, Duration whole) {
  public static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos(), time);
  }

  /** Returns this, or one {@code time} from now when that is sooner. */
  public Deadline within(Duration time) {
    return left().compareTo(time) <= 0 ? this : in(time);
  }

  /** Returns what is left, which is never nothing: a wait of no time would be one without end. */
  public Duration left() {
    return Duration.ofNanos(Math.max(1, at - System.nanoTime()));
  }

  public boolean over() {
    return at - System.nanoTime() <= 0;
  }
}
