package dev.isola.provider.memory.process;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** A handle on a job that has a terminal. */
public final class MemoryTerminal extends MemoryExecution implements Terminal {
  private final Faults faults;

  public MemoryTerminal(Job job, long offset, Faults faults) {
    super(job, offset);
    this.faults = faults;
  }

  @Override
  public void resize(TerminalSize size) {
    if (job().exit().isEmpty()) {
      job().tty().ifPresent(tty -> tty.resize(size, faults));
    }
  }
}
