package dev.isola.engine.metrics;

import dev.isola.engine.api.Delivery;
import dev.isola.engine.lifecycle.Uses;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import java.util.function.Supplier;

/** Does what the engine is asked for, and records how it went and who is at work. */
public record Measured(Recorder recorder, Uses uses, OpenExecutions executions) {
  public Measured(Recorder recorder, Uses uses) {
    this(recorder, uses, new OpenExecutions(recorder));
  }

  /**
   * Has a sandbox made.
   *
   * @param wanted the provider that is asked for, for when nobody makes it
   */
  public Delivery spawn(String wanted, Supplier<Delivery> work) {
    long start = System.nanoTime();
    try {
      Delivery made = work.get();
      String provider = made.entry().provider();
      if (!made.repeated()) {
        recorder.spawned(provider, made.entry().warm(), true, System.nanoTime() - start);
      }
      return new Delivery(made.entry(), sandbox(made.sandbox(), provider), made.repeated());
    } catch (SandboxException e) {
      recorder.spawned(wanted, false, false, System.nanoTime() - start);
      recorder.failed(Deed.SPAWN, e.code());
      throw e;
    }
  }

  /** Returns a sandbox whose commands and files are measured. */
  public Sandbox sandbox(Sandbox sandbox, String provider) {
    return new MeasuredSandbox(sandbox, provider, recorder, uses, executions);
  }

  public void deed(Deed deed, String provider, Runnable work) {
    deed(
        deed,
        provider,
        () -> {
          work.run();
          return true;
        });
  }

  /** Does something to a sandbox as a whole. */
  public <T> T deed(Deed deed, String provider, Supplier<T> work) {
    long start = System.nanoTime();
    try {
      T result = work.get();
      recorder.did(deed, provider, true, System.nanoTime() - start);
      return result;
    } catch (SandboxException e) {
      recorder.did(deed, provider, false, System.nanoTime() - start);
      recorder.failed(deed, e.code());
      throw e;
    }
  }
}
