package dev.isola.conformance;

/** Thrown when a check cannot run here; the message is the reason. */
public final class CheckNotRun extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CheckNotRun(String reason) {
    super(reason);
  }
}
