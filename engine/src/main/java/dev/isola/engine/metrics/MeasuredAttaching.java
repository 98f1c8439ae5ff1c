package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Terminal;
import java.util.List;

/**
 * Tracks clients that attach to an execution as activity. The execution was counted when it
 * started; its duration is recorded unless another observer has done so.
 */
record MeasuredAttaching(
    Attaching inner, SandboxId sandbox, ActivityTracker activity, OpenExecutions open)
    implements Attaching {
  @Override
  public List<ExecutionInfo> executions() {
    return inner.executions();
  }

  @Override
  public Execution attach(ExecutionId id, long offset) {
    Execution found = inner.attach(id, offset);
    ActivityTracker.Activity use = activity.begin(sandbox);
    return found instanceof Terminal terminal
        ? new MeasuredTerminal(terminal, "", MetricsRecorder.NOOP, use, sandbox, open)
        : new MeasuredExecution(found, "", MetricsRecorder.NOOP, use, sandbox, open);
  }
}
