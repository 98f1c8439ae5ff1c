package dev.isola.app;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;

/** What the isola process ends with; docs/cli.md has the table. */
final class ExitCodes {
  static final int OK = 0;
  static final int USAGE = 2;
  static final int TIMEOUT = 124;
  static final int NOT_RUN = 125;
  static final int NOT_EXECUTABLE = 126;
  static final int NOT_FOUND = 127;
  static final int INTERRUPTED = 130;

  /** Nobody reads our output any more: what a shell shows for SIGPIPE. */
  static final int OUTPUT_CLOSED = 141;

  private ExitCodes() {}

  static int of(Exit exit) {
    return exit instanceof Exit.Lost ? NOT_RUN : exit.shellCode();
  }

  static int of(SandboxException e) {
    return switch (e.code()) {
      case COMMAND_NOT_FOUND -> NOT_FOUND;
      case COMMAND_NOT_EXECUTABLE -> NOT_EXECUTABLE;
      case EXEC_TIMEOUT -> TIMEOUT;
      case CANCELLED -> INTERRUPTED;
      default -> NOT_RUN;
    };
  }
}
