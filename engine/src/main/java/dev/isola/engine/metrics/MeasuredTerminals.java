package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** Measures terminals as executions. */
record MeasuredTerminals(
    Terminals inner,
    SandboxId sandbox,
    String provider,
    MetricsRecorder recorder,
    ActivityTracker activity,
    OpenExecutions executions)
    implements Terminals {
  @Override
  public Terminal open(Command command, TerminalSize size) {
    try {
      Terminal terminal = inner.open(command, size);
      recorder.recordExecutionStart(provider);
      executions.started(sandbox, terminal, provider);
      return new MeasuredTerminal(
          terminal, provider, recorder, activity.begin(sandbox), sandbox, executions);
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.EXECUTION, e.code());
      throw e;
    }
  }
}
