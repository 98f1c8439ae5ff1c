package dev.isola.engine.usage;

/** The total usage of the sandboxes of a provider in the latest sample. */
public record UsageTotals(long memoryBytes, long processes) {
  public static final UsageTotals NOTHING = new UsageTotals(0, 0);

  UsageTotals plus(UsageTotals more) {
    return new UsageTotals(memoryBytes + more.memoryBytes, processes + more.processes);
  }
}
