package dev.isola.engine.metrics;

import dev.isola.spi.exec.Exit;
import java.util.Locale;

/** The outcome of a command, without its exit code: a metric label must have few values. */
public enum ExecutionOutcome {
  OK,
  NONZERO,
  SIGNALED,
  TIMED_OUT,
  OUT_OF_MEMORY,
  LOST;

  public static ExecutionOutcome of(Exit exit) {
    return switch (exit) {
      case Exit.Exited(int code) -> code == 0 ? OK : NONZERO;
      case Exit.Signaled _ -> SIGNALED;
      case Exit.TimedOut _ -> TIMED_OUT;
      case Exit.OutOfMemory _ -> OUT_OF_MEMORY;
      case Exit.Lost _ -> LOST;
    };
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
