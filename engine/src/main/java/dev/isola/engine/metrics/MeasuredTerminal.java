package dev.isola.engine.metrics;

import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** A command on a terminal, measured as any other. */
final class MeasuredTerminal extends MeasuredExecution implements Terminal {
  private final Terminal inner;

  MeasuredTerminal(Terminal inner, String provider, Recorder recorder) {
    super(inner, provider, recorder);
    this.inner = inner;
  }

  @Override
  public void resize(TerminalSize size) {
    inner.resize(size);
  }
}
