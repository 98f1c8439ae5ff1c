package dev.isola.provider.microvm;

import dev.isola.spi.spec.ResourceLimits;

/**
 * The hardware of a machine. Machines of one size and image continue from the same template.
 *
 * @param processors how many the guest sees
 * @param memoryMb the guest's memory, including that of its kernel
 * @param diskMb the space for changed files
 * @param network whether it has a network interface
 */
public record MachineSize(int processors, long memoryMb, long diskMb, boolean network) {
  /** What the guest's kernel needs for itself, so that commands get what the client asked for. */
  private static final int KERNEL_MB = 64;

  /** Returns the size of a machine for a sandbox with these limits. */
  public static MachineSize of(ResourceLimits limits, boolean network) {
    int processors = Math.clamp((long) Math.ceil(limits.cpu()), 1, 64);
    return new MachineSize(
        processors, limits.memoryMb() + KERNEL_MB, Math.max(1, limits.diskMb()), network);
  }

  /** Returns a text that differs for another size. */
  public String identity() {
    return "%d processors, %d MB, %d MB disk, %s"
        .formatted(processors, memoryMb, diskMb, network ? "network" : "no network");
  }
}
