package dev.isola.app.cli;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;

/** What the isola process ends with; docs/cli.md has the table. */
public final class ExitCodes {
  public static final int OK = 0;

  /** It was done as asked, and what was asked for failed: a step of a build. */
  public static final int FAILED = 1;

  public static final int USAGE = 2;
  public static final int TIMEOUT = 124;
  public static final int NOT_RUN = 125;
  static final int NOT_EXECUTABLE = 126;
  public static final int NOT_FOUND = 127;
  public static final int INTERRUPTED = 130;

  /** Nobody reads our output any more: what a shell shows for SIGPIPE. */
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
