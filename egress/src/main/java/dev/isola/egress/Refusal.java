package dev.isola.egress;

/** Thrown when a connection is denied; carries what the sandbox and the operator are told. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final String remedy;

  Refusal(String reason, String remedy) {
    super(reason, null, false, false);
    this.remedy = remedy;
  }

  String reason() {
    return String.valueOf(getMessage());
  }

  String remedy() {
    return remedy;
  }
}
