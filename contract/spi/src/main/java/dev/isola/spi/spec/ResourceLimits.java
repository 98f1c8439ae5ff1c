package dev.isola.spi.spec;

import java.time.Duration;
import java.util.Optional;

/**
 * The resources a sandbox may use.
 *
 * @param cpu cores, fractions allowed
 * @param timeout how long a command without a timeout of its own may run
 */
public record ResourceLimits(
    double cpu,
    long memoryMb,
    long diskMb,
    int fileDescriptors,
    int processes,
    int bandwidthMbps,
    Optional<Duration> timeout) {

  public static final ResourceLimits DEFAULT =
      new ResourceLimits(1, 1024, 10_240, 1024, 100, 100, Optional.empty());

  public ResourceLimits withCpu(double cores) {
    return new ResourceLimits(
        cores, memoryMb, diskMb, fileDescriptors, processes, bandwidthMbps, timeout);
  }

  public ResourceLimits withMemoryMb(long megabytes) {
    return new ResourceLimits(
        cpu, megabytes, diskMb, fileDescriptors, processes, bandwidthMbps, timeout);
  }

  public ResourceLimits withDiskMb(long megabytes) {
    return new ResourceLimits(
        cpu, memoryMb, megabytes, fileDescriptors, processes, bandwidthMbps, timeout);
  }

  public ResourceLimits withFileDescriptors(int count) {
    return new ResourceLimits(cpu, memoryMb, diskMb, count, processes, bandwidthMbps, timeout);
  }

  public ResourceLimits withProcesses(int count) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, count, bandwidthMbps, timeout);
  }

  public ResourceLimits withTimeout(Duration limit) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, processes, bandwidthMbps, Optional.of(limit));
  }
}
