package dev.isola.engine.metrics;

import dev.isola.engine.api.CreateResult;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** Does what the engine is asked for, and records how it went and who is at work. */
public record Instrumentation(
    MetricsRecorder recorder, ActivityTracker activity, OpenExecutions executions) {
  public Instrumentation(MetricsRecorder recorder, ActivityTracker uses) {
    this(recorder, uses, new OpenExecutions(recorder));
  }

  /**
   * Has a sandbox made.
   *
   * @param wanted the provider that is asked for, for when nobody makes it
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

  /** Returns a sandbox whose commands and files are measured. */
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

  /** Does something to a sandbox as a whole. */
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
