package dev.isola.conformance;

/** Says which promise was not kept. */
public final class CheckFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CheckFailed(String message) {
    super(message);
  }
}
