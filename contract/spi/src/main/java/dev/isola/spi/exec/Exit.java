package dev.isola.spi.exec;

import java.time.Duration;

/** How a command ended. Only {@link Lost} means that its end was not seen. */
public sealed interface Exit {

  /** Ended by itself; nonzero is a result, not an error. */
  record Exited(int code) implements Exit {}

  /** Ended by a signal from inside the sandbox or from {@link Execution#signal}. */
  record Signaled(Signal signal) implements Exit {}

  /** Ran into its timeout; its whole process tree is dead. */
  record TimedOut(Duration after) implements Exit {}

  /** Killed because the sandbox's memory limit was met. */
  record OutOfMemory() implements Exit {}

  /** The sandbox went away under it. */
  record Lost(String reason) implements Exit {}

  /**
   * Returns the code a shell would show: the exit code, 128 plus the signal, 124 on a timeout, 137
   * out of memory.
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
