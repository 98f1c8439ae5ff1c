package dev.isola.spi.exec;

/** The channel that output was written to. */
public enum Channel {
  STDOUT,
  STDERR,
  /** A terminal, which merges standard output and standard error. */
  TERMINAL
}
