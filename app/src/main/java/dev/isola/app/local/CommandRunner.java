package dev.isola.app.local;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;

/** A way to run a command in a sandbox: live, captured, on a terminal. */
interface CommandRunner {
  /** Runs the command to its end and returns the exit code of the process. */
  int run(Sandbox sandbox, Command command);
}
