package dev.isola.host.launch;

/** How many processors a command is shown: as many as its share of them can keep busy. */
public final class VisibleCpus {
  private VisibleCpus() {}

  /** Returns the whole number of processors for a limit of {@code cores}, at least one. */
  public static int of(double cores) {
    return (int) Math.max(1, Math.ceil(cores));
  }
}
