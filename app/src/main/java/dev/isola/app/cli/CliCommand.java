package dev.isola.app.cli;

/** A command of the command line, after its options have been read. */
public interface CliCommand {
  /** Does the work and returns the exit code. */
  int run();
}
