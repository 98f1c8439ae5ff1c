package dev.isola.engine.metrics;

import dev.isola.engine.api.CreateResult;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.RecentErrors;
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
   * Creates a sandbox and records the duration and outcome.
   *
   * @param requested the requested provider, used as label if creation fails
   */
  public CreateResult measureCreate(String requested, Supplier<CreateResult> work) {
    long start = System.nanoTime();
    try {
      CreateResult created = work.get();
      String provider = created.view().provider();
      if (!created.repeated()) {
        recorder.recordCreate(provider, created.view().warm(), true, System.nanoTime() - start);
        if (!created.view().attempts().isEmpty()) {
          recorder.recordFallback(provider);
        }
      }
      return new CreateResult(
          created.view(), sandbox(created.sandbox(), provider), created.repeated());
    } catch (SandboxException e) {
      recorder.recordCreate(requested, false, false, System.nanoTime() - start);
      recorder.recordError(EngineOperation.SPAWN, e.code());
      throw e;
    }
  }

  /** Returns a sandbox that records metrics of its commands and files. */
  public Sandbox sandbox(Sandbox sandbox, String provider) {
    return new MeasuredSandbox(sandbox, provider, recorder, activity, executions);
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
