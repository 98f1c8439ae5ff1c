package dev.isola.provider.memory.process;

/** Says that the limit of processes is met; whoever wanted one more ends. */
public final class TooManyProcesses extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TooManyProcesses() {
    super("Cannot fork", null, false, false);
  }
}
