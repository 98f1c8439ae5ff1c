package dev.isola.engine.usage;

/** What the sandboxes of a provider used together, when they were last looked at. */
public record Used(long memoryBytes, long processes) {
  public static final Used NOTHING = new Used(0, 0);

  Used and(Used more) {
    return new Used(memoryBytes + more.memoryBytes, processes + more.processes);
  }
}
