package dev.isola.conformance;

/** Thrown when a check fails; the message names the violated promise. */
public final class CheckFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CheckFailed(String message) {
    super(message);
  }

  /** Fails because of an exception of the provider. */
  public CheckFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
