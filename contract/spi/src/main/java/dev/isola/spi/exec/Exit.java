package dev.isola.spi.exec;

import java.time.Duration;

/** How a command ended. Only {@link Lost} means that the end was not observed. */
public sealed interface Exit {

  /** The command exited; a nonzero code is a result, not an error. */
  record Exited(int code) implements Exit {}

  /** A signal ended the command, sent from inside the sandbox or by {@link Execution#signal}. */
  record Signaled(Signal signal) implements Exit {}

  /** The command exceeded its timeout, and its whole process tree was killed. */
  record TimedOut(Duration after) implements Exit {}

  /** The command was killed because the sandbox reached its memory limit. */
  record OutOfMemory() implements Exit {}

  /** The sandbox was lost while the command ran. */
  record Lost(String reason) implements Exit {}

  /**
   * Returns the exit code that a shell would report: the exit code itself, 128 plus the signal
   * number, 124 for a timeout, 137 for out of memory.
   */
  default int shellCode() {
    return switch (this) {
      case Exited(int code) -> code;
      case Signaled(Signal signal) -> 128 + signal.number();
      case TimedOut ignored -> 124;
      case OutOfMemory ignored -> 137;
      case Lost ignored -> 255;
    };
  }
}
