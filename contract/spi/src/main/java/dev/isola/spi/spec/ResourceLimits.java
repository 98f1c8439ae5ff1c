package dev.isola.spi.spec;

import java.time.Duration;
import java.util.Optional;

/**
 * The resource limits of a sandbox.
 *
 * @param cpu cores; fractions are allowed
 * @param processes the processes that commands start, regardless of their threads; the first
 *     process of each execution is not counted
 * @param threads the threads of all processes together, including the main thread of each
 * @param bandwidthMbps of the sandbox's network, in each direction
 * @param timeout the timeout of commands that have none of their own
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

  /** The thread limit of a spec that sets none, unless it allows more processes. */
  public static final int DEFAULT_THREADS = 1024;

  /** Creates limits with the default thread limit. */
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

  /** Returns the thread limit of a spec that limits only processes. */
  public static int threadsFor(int processes) {
    return Math.max(DEFAULT_THREADS, processes);
  }

  /** Returns how many bytes may pass in a second, in each direction. */
  public long bandwidthBytes() {
    return bandwidthMbps * 1_000_000L / Byte.SIZE;
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

  /**
   * Returns these limits with another process limit, raising the thread limit to at least the same
   * number.
   */
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

  public ResourceLimits withBandwidthMbps(int megabits) {
    return new ResourceLimits(
        cpu, memoryMb, diskMb, fileDescriptors, processes, threads, megabits, timeout);
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
