package dev.isola.conformance;

/** Says why a check could not be made here. */
public final class NotRun extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotRun(String reason) {
    super(reason);
  }
}
