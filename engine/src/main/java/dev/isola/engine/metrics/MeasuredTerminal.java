package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** A command on a terminal, measured like any other execution. */
final class MeasuredTerminal extends MeasuredExecution implements Terminal {
  private final Terminal inner;

  MeasuredTerminal(
      Terminal inner,
      String provider,
      MetricsRecorder recorder,
      ActivityTracker.Activity use,
      SandboxId sandbox,
      OpenExecutions open) {
    super(inner, provider, recorder, use, sandbox, open);
    this.inner = inner;
  }

  @Override
  public void resize(TerminalSize size) {
    inner.resize(size);
  }
}
