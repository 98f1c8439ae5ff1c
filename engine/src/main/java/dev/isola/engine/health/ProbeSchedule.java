package dev.isola.engine.health;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How often a provider is asked and how long it may think. The interval is jittered, so that many
 * servers, or many providers of one, do not all ask at the same moment.
 *
 * @param patience after which a provider that has not answered counts as unhealthy
 */
public record ProbeSchedule(Duration interval, Duration timeout) {
  public static final ProbeSchedule DEFAULT =
      new ProbeSchedule(Duration.ofSeconds(30), Duration.ofSeconds(5));

  /** By how much an interval is longer or shorter than it says, at most. */
  static final double JITTER = 0.1;

  /** Returns how long to wait before the next question. */
  Duration nextDelay(RandomGenerator random) {
    double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
    return Duration.ofNanos(Math.round(interval.toNanos() * factor));
  }
}
