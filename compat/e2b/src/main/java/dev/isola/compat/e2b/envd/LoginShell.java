package dev.isola.compat.e2b.envd;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import java.util.function.Function;

/**
 * Starts the shell of E2B's clients. They run every command with bash; in an image without it, sh
 * takes its place.
 */
final class LoginShell {
  private static final String BASH = "/bin/bash";
  private static final String SH = "/bin/sh";

  private LoginShell() {}

  /** Starts a command, with sh instead of bash if the sandbox has no bash. */
  static <E> E start(Command command, Function<Command, E> starter) {
    try {
      return starter.apply(command);
    } catch (SandboxException e) {
      if (e.code() != ErrorCode.COMMAND_NOT_FOUND || !command.program().equals(BASH)) {
        throw e;
      }
      return starter.apply(withSh(command));
    }
  }

  private static Command withSh(Command command) {
    return new Command(
        command.mode(),
        SH,
        command.args(),
        command.env(),
        command.cwd(),
        command.user(),
        command.stdin(),
        command.timeout(),
        command.tag());
  }
}
