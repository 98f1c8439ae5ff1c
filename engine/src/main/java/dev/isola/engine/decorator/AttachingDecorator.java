package dev.isola.engine.decorator;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import java.util.List;

/** Attaches clients to executions, which were reported to the observer when they started. */
record AttachingDecorator(Attaching inner, ProviderGuard guard, SandboxObserver observer)
    implements Attaching {
  @Override
  public List<ExecutionInfo> executions() {
    return guard.direct("executions", inner::executions);
  }

  @Override
  public Execution attach(ExecutionId id, long offset) {
    return ExecutionDecorator.of(
        guard.direct("attach", () -> inner.attach(id, offset)), guard, observer.attached());
  }
}
