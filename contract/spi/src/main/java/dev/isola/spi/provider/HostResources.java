package dev.isola.spi.provider;

import java.util.OptionalLong;

/**
 * The total and free resources of the machine that runs a provider's sandboxes.
 *
 * @param freeMemoryMb memory available to processes without swapping; empty if unknown
 * @param diskMb size of the file system that sandboxes write to; empty if unknown
 * @param freeDiskMb free space of that file system; empty if unknown
 */
public record HostResources(
    int processors,
    long memoryMb,
    OptionalLong freeMemoryMb,
    OptionalLong diskMb,
    OptionalLong freeDiskMb) {
  public HostResources {
    if (processors <= 0 || memoryMb <= 0) {
      throw new IllegalArgumentException(
          "processors and memory must be positive: " + processors + " and " + memoryMb + " MB");
    }
  }

  /** Creates a description of a machine whose free resources are unknown. */
  public HostResources(int processors, long memoryMb) {
    this(processors, memoryMb, OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());
  }
}
