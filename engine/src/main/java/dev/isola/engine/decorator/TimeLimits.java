package dev.isola.engine.decorator;

import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/**
 * How long calls may take that wait for the backend and have no deadline of their own.
 *
 * @param grace for calls that the provider answers from what it knows; calls with a timeout of
 *     their own, which the provider enforces, may take this much longer
 * @param change for pausing, resuming, renewing and the creation of a fork point
 * @param measure for measurements, and for closing a fork point
 * @param unpack for opening a stored fork point
 * @param removal for the removal of a volume, because deleting many files takes time
 */
record TimeLimits(
    Duration grace, Duration change, Duration measure, Duration unpack, Duration removal) {
  static final TimeLimits DEFAULT =
      new TimeLimits(
          Duration.ofMinutes(1),
          Duration.ofMinutes(5),
          Duration.ofMinutes(1),
          Duration.ofMinutes(15),
          Duration.ofMinutes(5));

  /** Returns how long the creation of a sandbox may take. */
  Duration create(SandboxSpec spec) {
    return spec.startupTimeout().multipliedBy(2).plus(grace);
  }
}
