package dev.isola.conformance;

/** Says why a check could not be made here. */
public final class CheckNotRun extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CheckNotRun(String reason) {
    super(reason);
  }
}
