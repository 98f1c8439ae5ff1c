package dev.isola.engine.usage;

/** What the sandboxes of a provider used together, when they were last looked at. */
public record UsageTotals(long memoryBytes, long processes) {
  public static final UsageTotals NOTHING = new UsageTotals(0, 0);

  UsageTotals plus(UsageTotals more) {
    return new UsageTotals(memoryBytes + more.memoryBytes, processes + more.processes);
  }
}
