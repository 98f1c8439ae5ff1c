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
   * @param receivedBytes over its own network; empty where it shares the host's, whose traffic is
   *     not its own
   * @param diskBytes written files, empty when it was not measured
   */
  record Usage(
      Duration cpuTime,
      long memoryBytes,
      long memoryPeakBytes,
      OptionalLong diskBytes,
      OptionalLong receivedBytes,
      OptionalLong sentBytes,
      int processes,
      Duration uptime) {}

  Usage usage();
}
