package dev.isola.provider.memory.shell;

/** Says that a text is not a program of the shell, or not a whole one yet. */
final class SyntaxError extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final boolean incomplete;

  SyntaxError(String message, boolean incomplete) {
    super(message);
    this.incomplete = incomplete;
  }

  boolean incomplete() {
    return incomplete;
  }
}
