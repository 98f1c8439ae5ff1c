package dev.isola.engine.admission;

import dev.isola.engine.api.Resources;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Decides whether the machine has memory and disk space for one more sandbox. A memory limit is a
 * ceiling, not the usage: the memory available now must be at least the limit divided by the
 * overcommit factor.
 *
 * @param overcommit how many times the available memory the limit of a new sandbox may be
 * @param maxStalledPercent the memory pressure at which no sandbox is admitted
 * @param memoryMb the total memory of the machine
 */
public record Headroom(
    double overcommit,
    double maxStalledPercent,
    long memoryMb,
    Supplier<MachineState> machine,
    DiskHeadroom disks) {
  /**
   * The memory reserved for a sandbox that is starting. Later usage shows up in the available
   * memory.
   */
  private static final long STARTING_MB = 16;

  /** The upper bound of the memory reserved for the server and other processes, otherwise 5%. */
  private static final long RESERVE_MB = 512;

  /** For sandboxes that do not run on this machine. */
  public static final Headroom UNCHECKED =
      new Headroom(
          1_000_000, 100, Long.MAX_VALUE >> 24, () -> MachineState.UNKNOWN, DiskHeadroom.UNCHECKED);

  /** Returns the shortage if the sandbox can never fit into the machine. */
  Optional<Shortage> permanentShortage(Resources requested) {
    long needed = needed(requested);
    return needed > memoryMb
        ? Optional.of(
            new Shortage("memory", needed + "", memoryMb + "", message(requested, memoryMb)))
        : Optional.empty();
  }

  /**
   * Returns the current shortage, if any.
   *
   * @param starting the number of sandboxes that are being created
   */
  Optional<Shortage> currentShortage(Resources requested, int starting) {
    return memoryShortage(requested, starting).or(() -> disks.currentShortage(requested, starting));
  }

  private Optional<Shortage> memoryShortage(Resources requested, int starting) {
    MachineState state = machine.get();
    if (state.stalledPercent().isPresent()
        && state.stalledPercent().getAsDouble() >= maxStalledPercent) {
      String stalled = state.stalledPercent().getAsDouble() + "";
      return Optional.of(
          new Shortage(
              "memoryPressure",
              maxStalledPercent + "",
              stalled,
              "all tasks of the machine were stalled on memory for "
                  + stalled
                  + " % of the last 10 s (admission.max_memory_pressure is "
                  + maxStalledPercent
                  + ")"));
    }
    if (state.availableMb().isEmpty()) {
      return Optional.empty();
    }
    long free = Math.max(0, state.availableMb().getAsLong() - reserve() - starting * STARTING_MB);
    return needed(requested) > free
        ? Optional.of(
            new Shortage("memory", needed(requested) + "", free + "", message(requested, free)))
        : Optional.empty();
  }

  /** Returns the largest memory limit that a sandbox could have now. */
  long maxMemoryLimitMb() {
    MachineState state = machine.get();
    return state.availableMb().isEmpty()
        ? Resources.UNLIMITED
        : (long) (Math.max(0, state.availableMb().getAsLong() - reserve()) * overcommit);
  }

  private String message(Resources requested, long free) {
    return "the sandbox needs "
        + needed(requested)
        + " MB (its limit of "
        + requested.memoryMb()
        + " MB divided by the overcommit factor "
        + overcommit
        + "), and the machine has "
        + free
        + " MB available for sandboxes";
  }

  private long reserve() {
    return Math.min(RESERVE_MB, memoryMb / 20);
  }

  private long needed(Resources requested) {
    return (long) Math.ceil(requested.memoryMb() / overcommit);
  }
}
