package dev.isola.spi.capability;

import java.time.Duration;
import java.util.OptionalLong;

/** Measures the resource usage of a sandbox. */
public non-sealed interface UsageReporting extends Capability {
  /**
   * A measurement.
   *
   * @param cpuTime CPU time used since the sandbox was created
   * @param memoryBytes memory in use now
   * @param memoryPeakBytes the highest memory use observed
   * @param receivedBytes bytes received on the sandbox's own network; empty if it shares the
   *     host's, whose traffic cannot be attributed
   * @param diskBytes size of the written files; empty if not measured
   */
  record Usage(
      Duration cpuTime,
      long memoryBytes,
      long memoryPeakBytes,
      OptionalLong diskBytes,
      OptionalLong receivedBytes,
      OptionalLong sentBytes,
      int processes,
      Duration uptime) {
    /** Returns this measurement with other traffic. */
    public Usage withTraffic(long received, long sent) {
      return new Usage(
          cpuTime,
          memoryBytes,
          memoryPeakBytes,
          diskBytes,
          OptionalLong.of(received),
          OptionalLong.of(sent),
          processes,
          uptime);
    }
  }

  Usage usage();
}
