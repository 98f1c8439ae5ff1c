package dev.isola.spi.spec;

import java.time.Duration;
import java.util.Optional;

/**
 * The resources a sandbox may use.
 *
 * @param cpu cores, fractions allowed
 * @param processes those that its commands start, however many threads each has; the first process
 *     of an execution is not counted
 * @param threads of all its processes together, the first one of each process included
 * @param timeout how long a command without a timeout of its own may run
 */
public record ResourceLimits(
    double cpu,
    long memoryMb,
    long diskMb,
    int fileDescriptors,
    int processes,
    int threads,
    int bandwidthMbps,
    Optional<Duration> timeout) {

  /** The ceiling of threads where a spec names none, unless it allows more processes. */
  public static final int DEFAULT_THREADS = 1024;

  /** Limits with the default ceiling of threads. */
  public ResourceLimits(
      double cpu,
      long memoryMb,
      long diskMb,
      int fileDescriptors,
      int processes,
      int bandwidthMbps,
      Optional<Duration> timeout) {
    this(
        cpu,
        memoryMb,
        diskMb,
        fileDescriptors,
        processes,
        threadsFor(processes),
        bandwidthMbps,
        timeout);
  }

  public static final ResourceLimits DEFAULT =
      new ResourceLimits(1, 1024, 10_240, 1024, 100, 100, Optional.empty());

  /** Returns the ceiling of threads of a spec that names only its processes. */
  public static int threadsFor(int processes) {
    return Math.max(DEFAULT_THREADS, processes);
  }

  public ResourceLimits withCpu(double cores) {
    return new ResourceLimits(
        cores, memoryMb, diskMb, fileDescriptors, processes, threads, bandwidthMbps, timeout);
  }

  public ResourceLimits withMemoryMb(long megabytes) {
    return new ResourceLimits(
        cpu, megabytes, diskMb, fileDescriptors, processes, threads, bandwidthMbps, timeout);
  }

  public ResourceLimits withDiskMb(long megabytes) {
    return new ResourceLimits(
        cpu, memoryMb, megabytes, fileDescriptors, processes, threads, bandwidthMbps, timeout);
  }

  public ResourceLimits withFileDescriptors(int count) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, count, processes, threads, bandwidthMbps, timeout);
  }

  /** Returns these limits with other processes, and with as many threads at least. */
  public ResourceLimits withProcesses(int count) {
    return new ResourceLimits(
        cpu,
        memoryMb,
        diskMb,
        fileDescriptors,
        count,
        Math.max(threads, count),
        bandwidthMbps,
        timeout);
  }

  public ResourceLimits withThreads(int count) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, processes, count, bandwidthMbps, timeout);
  }

  public ResourceLimits withTimeout(Duration limit) {
    return new ResourceLimits(
        cpu,
        memoryMb,
        diskMb,
        fileDescriptors,
        processes,
        threads,
        bandwidthMbps,
        Optional.of(limit));
  }
}
