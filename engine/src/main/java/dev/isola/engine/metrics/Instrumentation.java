package dev.isola.engine.metrics;

import dev.isola.engine.api.CreateResult;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** Executes operations and records their metrics and the activity of sandboxes. */
public record Instrumentation(
    MetricsRecorder recorder, ActivityTracker activity, OpenExecutions executions) {
  public Instrumentation(MetricsRecorder recorder, ActivityTracker uses) {
    this(recorder, uses, new OpenExecutions(recorder));
  }

  /**
   * Creates a sandbox and records the duration and outcome.
   *
   * @param requested the requested provider, used as label if creation fails
   */
  public CreateResult measureCreate(String wanted, Supplier<CreateResult> work) {
    long start = System.nanoTime();
    try {
      CreateResult made = work.get();
      String provider = made.view().provider();
      if (!made.repeated()) {
        recorder.recordCreate(provider, made.view().warm(), true, System.nanoTime() - start);
      }
      return new CreateResult(made.view(), sandbox(made.sandbox(), provider), made.repeated());
    } catch (SandboxException e) {
      recorder.recordCreate(wanted, false, false, System.nanoTime() - start);
      recorder.recordError(EngineOperation.SPAWN, e.code());
      throw e;
    }
  }

  /** Returns a sandbox that records metrics of its commands and files. */
  public Sandbox sandbox(Sandbox sandbox, String provider) {
    return new MeasuredSandbox(sandbox, provider, recorder, activity, executions);
  }

  public void measure(EngineOperation deed, String provider, Runnable work) {
    measure(
        deed,
        provider,
        () -> {
          work.run();
          return true;
        });
  }

  /** Executes an operation on a sandbox and records its duration and outcome. */
  public <T> T measure(EngineOperation deed, String provider, Supplier<T> work) {
    long start = System.nanoTime();
    try {
      T result = work.get();
      recorder.recordOperation(deed, provider, true, System.nanoTime() - start);
      return result;
    } catch (SandboxException e) {
      recorder.recordOperation(deed, provider, false, System.nanoTime() - start);
      recorder.recordError(deed, e.code());
      throw e;
    }
  }
}
