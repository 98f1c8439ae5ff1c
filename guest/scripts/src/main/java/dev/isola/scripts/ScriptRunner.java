package dev.isola.scripts;

import java.util.List;

/** Runs a command in a sandbox and waits for its end. */
@FunctionalInterface
public interface ScriptRunner {
  /**
   * The end of a command.
   *
   * @param output what it wrote to standard output
   * @param error what it wrote to standard error
   */
  record Result(int exitCode, String output, String error) {}

  /**
   * Runs a command.
   *
   * @throws dev.isola.spi.error.SandboxException if the sandbox or its backend fails
   */
  Result run(List<String> argv);
}
