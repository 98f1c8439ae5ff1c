package dev.isola.engine.config;

/** Says what a value must be, as the end of a sentence that begins with its key. */
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
