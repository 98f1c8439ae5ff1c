package dev.isola.app.cli;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;

/** Exit codes of the {@code isola} process; docs/cli.md has the table. */
public final class ExitCodes {
  public static final int OK = 0;

  /** The request was carried out and its result is a failure, such as a failed build step. */
  public static final int FAILED = 1;

  public static final int USAGE = 2;
  public static final int TIMEOUT = 124;
  public static final int NOT_RUN = 125;
  static final int NOT_EXECUTABLE = 126;
  public static final int NOT_FOUND = 127;
  public static final int INTERRUPTED = 130;

  /** Standard output was closed by the reader; the code that a shell reports for SIGPIPE. */
  public static final int OUTPUT_CLOSED = 141;

  private ExitCodes() {}

  public static int of(Exit exit) {
    return exit instanceof Exit.Lost ? NOT_RUN : exit.shellCode();
  }

  public static int of(SandboxException e) {
    return switch (e.code()) {
      case COMMAND_NOT_FOUND -> NOT_FOUND;
      case COMMAND_NOT_EXECUTABLE -> NOT_EXECUTABLE;
      case EXEC_TIMEOUT -> TIMEOUT;
      case CANCELLED -> INTERRUPTED;
      default -> NOT_RUN;
    };
  }
}
