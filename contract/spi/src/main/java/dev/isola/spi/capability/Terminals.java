package dev.isola.spi.capability;

import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** Runs commands on a pseudo-terminal. */
public non-sealed interface Terminals extends Capability {
  /**
   * Starts {@code command} on a new pseudo-terminal. {@code TERM} is {@code xterm-256color} unless
   * the command sets it.
   */
  Terminal open(Command command, TerminalSize size);
}
