package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.Uses;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import java.util.List;

/** Who attaches to a command uses its sandbox. The command was counted when it was started. */
record MeasuredAttaching(Attaching inner, SandboxId sandbox, Uses uses) implements Attaching {
  @Override
  public List<ExecutionInfo> executions() {
    return inner.executions();
  }

  @Override
  public Execution attach(ExecutionId id, long offset) {
    return new MeasuredExecution(inner.attach(id, offset), "", Recorder.NONE, uses.begin(sandbox));
  }
}
