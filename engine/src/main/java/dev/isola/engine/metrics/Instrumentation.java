package dev.isola.engine.metrics;

import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.decorator.SandboxDecorator;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** Executes operations and records their metrics and the activity of sandboxes. */
public record Instrumentation(
    MetricsRecorder recorder, ActivityTracker activity, OpenExecutions executions) {
  public Instrumentation(MetricsRecorder recorder, ActivityTracker activity, RecentErrors errors) {
    this(recorder, activity, new OpenExecutions(recorder, errors));
  }

  /**
   * Returns a sandbox that records the metrics and the activity of a client. A sandbox that does
   * not come from a provider refuses every use, which is not recorded.
   */
  public Sandbox sandbox(Sandbox sandbox, String provider) {
    return sandbox instanceof SandboxDecorator known
        ? known.observedBy(
            new MetricsObserver(known.id(), provider, recorder, activity, executions))
        : sandbox;
  }

  public void measure(EngineOperation operation, String provider, Runnable work) {
    measure(
        operation,
        provider,
        () -> {
          work.run();
          return true;
        });
  }

  /** Executes an operation on a sandbox and records its duration and outcome. */
  public <T> T measure(EngineOperation operation, String provider, Supplier<T> work) {
    long start = System.nanoTime();
    try {
      T result = work.get();
      recorder.recordOperation(operation, provider, true, System.nanoTime() - start);
      return result;
    } catch (SandboxException e) {
      recorder.recordOperation(operation, provider, false, System.nanoTime() - start);
      recorder.recordError(operation, e.code());
      throw e;
    }
  }
}
