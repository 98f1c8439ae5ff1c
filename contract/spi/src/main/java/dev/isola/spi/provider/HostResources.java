package dev.isola.spi.provider;

import java.util.OptionalLong;

/**
 * What the machine that runs the sandboxes of a provider has in all, and what of it is free now.
 *
 * @param freeMemoryMb what processes can have without swapping; empty when unknown
 * @param diskMb of the file system where sandboxes write; empty when unknown
 * @param freeDiskMb what of that can still be written; empty when unknown
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
          "a machine has processors and memory: " + processors + " and " + memoryMb + " MB");
    }
  }

  /** A machine of which only the whole is known. */
  public HostResources(int processors, long memoryMb) {
    this(processors, memoryMb, OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());
  }
}
