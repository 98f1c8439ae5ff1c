package dev.isola.simulation;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/** The virtual time, in microseconds since the start, and the events to come. */
final class Timeline {
  static final long MICROSECOND_NANOS = 1_000;
  static final long MILLISECOND = 1_000;
  static final long SECOND = 1_000 * MILLISECOND;
  static final long MINUTE = 60 * SECOND;

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private record Event(long at, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at == other.at ? Long.compare(number, other.number) : Long.compare(at, other.at);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long now;
  private long scheduled;
  private long processed;

  long now() {
    return now;
  }

  /** Returns the number of events that have happened. */
  long processed() {
    return processed;
  }

  void after(long delay, Runnable action) {
    at(now + delay, action);
  }

  void at(long time, Runnable action) {
    events.add(new Event(Math.max(now, time), scheduled++, action));
  }

  /** Lets events happen, in order, until {@code end} or until a condition holds. */
  void runUntil(long end, BooleanSupplier condition) {
    while (!events.isEmpty() && events.element().at() <= end && !condition.getAsBoolean()) {
      Event next = events.remove();
      now = next.at();
      processed++;
      next.action().run();
    }
  }

  static Instant instant(long time) {
    return START.plus(time, ChronoUnit.MICROS);
  }

  static long time(Instant instant) {
    return START.until(instant, ChronoUnit.MICROS);
  }
}
