package dev.isola.engine.health;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The interval and timeout of health probes. The interval is jittered, so that many servers, or
 * many providers of one server, do not probe at the same time.
 *
 * @param timeout the time after which a provider that has not answered is unhealthy
 */
public record ProbeSchedule(Duration interval, Duration timeout) {
  public static final ProbeSchedule DEFAULT =
      new ProbeSchedule(Duration.ofSeconds(30), Duration.ofSeconds(5));

  /** The maximum relative deviation from the interval. */
  static final double JITTER = 0.1;

  /** Returns the delay before the next probe. */
  Duration nextDelay(RandomGenerator random) {
    double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
    return Duration.ofNanos(Math.round(interval.toNanos() * factor));
  }
}
