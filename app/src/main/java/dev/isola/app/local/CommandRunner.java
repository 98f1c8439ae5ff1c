package dev.isola.app.local;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;

/** Runs a command in a sandbox and delivers its output: streamed, captured or on a terminal. */
interface CommandRunner {
  /** Runs the command until it exits and returns the exit code for this process. */
  int run(Sandbox sandbox, Command command);
}
