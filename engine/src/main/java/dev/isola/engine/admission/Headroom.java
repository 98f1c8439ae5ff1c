package dev.isola.engine.admission;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Whether the machine itself has room for one more sandbox. A memory limit is a ceiling and not
 * what a sandbox uses: of the limit divided by the overcommit factor there must be as much
 * available now.
 *
 * @param overcommit how many times the available memory the limit of a newcomer may be
 * @param maxStalledPercent from this memory pressure on there is no room
 * @param memoryMb the memory of the machine
 */
public record Headroom(
    double overcommit, double maxStalledPercent, long memoryMb, Supplier<MachineState> machine) {
  /** What a sandbox takes while it starts; what it takes later is seen in what is available. */
  private static final long STARTING_MB = 16;

  /** Left for the server and the rest of the machine: a twentieth, and no more than this. */
  private static final long RESERVE_MB = 512;

  /** For sandboxes that do not run on this machine. */
  public static final Headroom UNCHECKED =
      new Headroom(1_000_000, 100, Long.MAX_VALUE >> 24, () -> MachineState.UNKNOWN);

  /** Returns what stands in the way of a sandbox that could never fit. */
  Optional<Shortage> permanentShortage(Resources asked) {
    long needed = needed(asked);
    return needed > memoryMb
        ? Optional.of(new Shortage("memory", needed + "", memoryMb + "", message(asked, memoryMb)))
        : Optional.empty();
  }

  /**
   * Returns what is short now.
   *
   * @param starting how many sandboxes are being made
   */
  Optional<Shortage> currentShortage(Resources asked, int starting) {
    MachineState state = machine.get();
    if (state.stalledPercent().isPresent()
        && state.stalledPercent().getAsDouble() >= maxStalledPercent) {
      String stalled = state.stalledPercent().getAsDouble() + "";
      return Optional.of(
          new Shortage(
              "memoryPressure",
              maxStalledPercent + "",
              stalled,
              "all tasks of the machine waited for memory "
                  + stalled
                  + " % of the last 10 s (admission.max_memory_pressure is "
                  + maxStalledPercent
                  + ")"));
    }
    if (state.availableMb().isEmpty()) {
      return Optional.empty();
    }
    long free = Math.max(0, state.availableMb().getAsLong() - reserve() - starting * STARTING_MB);
    return needed(asked) > free
        ? Optional.of(new Shortage("memory", needed(asked) + "", free + "", message(asked, free)))
        : Optional.empty();
  }

  /** Returns the largest memory limit that a sandbox could have now. */
  long maxMemoryLimitMb() {
    MachineState state = machine.get();
    return state.availableMb().isEmpty()
        ? Resources.UNLIMITED
        : (long) (Math.max(0, state.availableMb().getAsLong() - reserve()) * overcommit);
  }

  private String message(Resources asked, long free) {
    return "the sandbox needs "
        + needed(asked)
        + " MB (its limit of "
        + asked.memoryMb()
        + " MB, with an overcommit of "
        + overcommit
        + "), and the machine has "
        + free
        + " MB available for sandboxes";
  }

  private long reserve() {
    return Math.min(RESERVE_MB, memoryMb / 20);
  }

  private long needed(Resources asked) {
    return (long) Math.ceil(asked.memoryMb() / overcommit);
  }
}
