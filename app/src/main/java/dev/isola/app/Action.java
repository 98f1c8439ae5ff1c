package dev.isola.app;

/** A command of the command line, after its options have been read. */
interface Action {
  /** Does the work and returns the exit code. */
  int run();
}
