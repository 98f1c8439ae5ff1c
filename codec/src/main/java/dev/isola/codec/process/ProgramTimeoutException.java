package dev.isola.codec.process;

import java.io.IOException;

/** A program of the host did not end in time, and was killed. */
public final class ProgramTimeoutException extends IOException {
  private static final long serialVersionUID = 1;

  private final String output;

  ProgramTimeoutException(String message, String output) {
    super(message);
    this.output = output;
  }

  /** Returns the beginning of what the program printed until then. */
  public String output() {
    return output;
  }
}
