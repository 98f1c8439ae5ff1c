package dev.isola.engine.api.health;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The interval and timeout of health probes. The interval is jittered, so that many servers, or
 * many providers of one server, do not probe at the same time.
 *
 * @param timeout how long a probe is waited for; until a slower one is answered, the last answer
 *     counts
 */
public record ProbeSchedule(Duration interval, Duration timeout) {
  public static final ProbeSchedule DEFAULT =
      new ProbeSchedule(Duration.ofSeconds(30), Duration.ofSeconds(5));

  /** The maximum relative deviation from the interval. */
  static final double JITTER = 0.1;

  /** How many timeouts a probe may take before the provider is unhealthy. */
  private static final int SILENT_TIMEOUTS = 12;

  /** Returns how long a probe may be unanswered before the last answer counts no longer. */
  Duration silence() {
    return timeout.multipliedBy(SILENT_TIMEOUTS);
  }

  /** Returns the delay before the next probe. */
  Duration nextDelay(RandomGenerator random) {
    double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
    return Duration.ofNanos(Math.round(interval.toNanos() * factor));
  }
}
