package dev.isola.engine.config;

/** An invalid value. The message completes a sentence that starts with the key. */
final class InvalidValueException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String problem;

  InvalidValueException(String problem) {
    super(problem);
    this.problem = problem;
  }

  String problem() {
    return problem;
  }
}
