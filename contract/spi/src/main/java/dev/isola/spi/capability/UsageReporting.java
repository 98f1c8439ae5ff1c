package dev.isola.spi.capability;

import java.time.Duration;
import java.util.OptionalLong;

/** Measures what a sandbox uses. */
public non-sealed interface UsageReporting extends Capability {
  /**
   * A reading.
   *
   * @param cpuTime processor time used since the start
   * @param memoryBytes in use now
   * @param memoryPeakBytes the most that was seen
   * @param diskBytes written files, empty when it was not measured
   */
  record Usage(
      Duration cpuTime,
      long memoryBytes,
      long memoryPeakBytes,
      OptionalLong diskBytes,
      long receivedBytes,
      long sentBytes,
      int processes,
      Duration uptime) {}

  Usage usage();
}
