package dev.isola.host.launch;

/** The number of CPUs that a command sees. */
public final class VisibleCpus {
  private VisibleCpus() {}

  /** Returns the number of CPUs for a limit of {@code cores}, rounded up. */
  public static int of(double cores) {
    return (int) Math.max(1, Math.ceil(cores));
  }
}
