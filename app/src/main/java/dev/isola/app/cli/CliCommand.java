package dev.isola.app.cli;

/** A command of the command line, with its options already parsed. */
public interface CliCommand {
  /** Runs the command and returns the exit code. */
  int run();
}
