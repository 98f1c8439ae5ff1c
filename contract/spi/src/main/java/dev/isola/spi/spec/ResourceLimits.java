package dev.isola.spi.spec;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * The resources a sandbox may use.
 *
 * @param cpu cores, fractions allowed
 * @param timeout how long a command without a timeout of its own may run
 * @param required those without which the sandbox shall not be made: a provider that does not
 *     enforce one of them refuses
 */
public record ResourceLimits(
    double cpu,
    long memoryMb,
    long diskMb,
    int fileDescriptors,
    int processes,
    int bandwidthMbps,
    Optional<Duration> timeout,
    Set<LimitKind> required) {

  public ResourceLimits {
    required = Set.copyOf(required);
  }

  /** Limits of which none is required. */
  public ResourceLimits(
      double cpu,
      long memoryMb,
      long diskMb,
      int fileDescriptors,
      int processes,
      int bandwidthMbps,
      Optional<Duration> timeout) {
    this(cpu, memoryMb, diskMb, fileDescriptors, processes, bandwidthMbps, timeout, Set.of());
  }

  public static final ResourceLimits DEFAULT =
      new ResourceLimits(1, 1024, 10_240, 1024, 100, 100, Optional.empty());

  public ResourceLimits withCpu(double cores) {
    return new ResourceLimits(
        cores, memoryMb, diskMb, fileDescriptors, processes, bandwidthMbps, timeout, required);
  }

  public ResourceLimits withMemoryMb(long megabytes) {
    return new ResourceLimits(
        cpu, megabytes, diskMb, fileDescriptors, processes, bandwidthMbps, timeout, required);
  }

  public ResourceLimits withDiskMb(long megabytes) {
    return new ResourceLimits(
        cpu, memoryMb, megabytes, fileDescriptors, processes, bandwidthMbps, timeout, required);
  }

  public ResourceLimits withFileDescriptors(int count) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, count, processes, bandwidthMbps, timeout, required);
  }

  public ResourceLimits withProcesses(int count) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, count, bandwidthMbps, timeout, required);
  }

  public ResourceLimits withTimeout(Duration limit) {
    return new ResourceLimits(
        cpu,
        memoryMb,
        diskMb,
        fileDescriptors,
        processes,
        bandwidthMbps,
        Optional.of(limit),
        required);
  }

  public ResourceLimits withRequired(LimitKind... kinds) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, processes, bandwidthMbps, timeout, Set.of(kinds));
  }
}
