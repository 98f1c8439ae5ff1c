package dev.isola.spi.exec;

/** Where a piece of output came from. */
public enum Channel {
  STDOUT,
  STDERR,
  /** Both, through a terminal, which cannot tell them apart. */
  TERMINAL
}
