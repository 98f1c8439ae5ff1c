package dev.isola.engine.decorator;

import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** A command on a terminal. */
final class TerminalDecorator extends ExecutionDecorator implements Terminal {
  private final Terminal inner;

  TerminalDecorator(Terminal inner, ProviderGuard guard, SandboxObserver observer) {
    super(inner, guard, observer);
    this.inner = inner;
  }

  @Override
  public void resize(TerminalSize size) {
    guard.runDirect("resize", () -> inner.resize(size));
  }
}
