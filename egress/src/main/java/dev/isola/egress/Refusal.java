package dev.isola.egress;

/** Thrown when a connection is not established; carries what the guest process is told. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean denied;
  private final String remedy;

  private Refusal(boolean denied, String reason, String remedy) {
    super(reason, null, false, false);
    this.denied = denied;
    this.remedy = remedy;
  }

  /** A rule or a limit denies the connection. */
  static Refusal denied(String reason, String remedy) {
    return new Refusal(true, reason, remedy);
  }

  /** The connection is allowed, but the other host cannot be reached. */
  static Refusal unreachable(String reason) {
    return new Refusal(false, reason, "");
  }

  boolean isDenied() {
    return denied;
  }

  String reason() {
    return String.valueOf(getMessage());
  }

  String remedy() {
    return remedy;
  }
}
