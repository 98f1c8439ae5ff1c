package dev.isola.provider.memory.process;

/** Unwinds a simulated process that was ended by a signal. */
public final class Killed extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final int signal;

  Killed(int signal) {
    super("signal " + signal, null, false, false);
    this.signal = signal;
  }

  int signal() {
    return signal;
  }
}
