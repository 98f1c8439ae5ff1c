package dev.isola.engine;

import dev.isola.engine.api.Log;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/**
 * Runs the engine's recurring tasks, each on its own thread. A task that fails is logged and runs
 * again after the next interval.
 */
final class TaskScheduler implements AutoCloseable {
  private final BooleanSupplier permitted;
  private final Log log;
  private final List<Thread> loops = new CopyOnWriteArrayList<>();

  /**
   * @param permitted whether tasks may run now
   */
  TaskScheduler(BooleanSupplier permitted, Log log) {
    this.permitted = permitted;
    this.log = log;
  }

  /** Runs a task after each interval; the first run is one interval from now. */
  void every(Duration pause, String name, Runnable work) {
    loops.add(
        Thread.ofVirtual()
            .name("isola-" + name)
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(pause);
                      if (permitted.getAsBoolean()) {
                        attempt(name, work);
                      }
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // the engine is closing
                  }
                }));
  }

  /** Runs a task once on a background thread. {@link #close} does not interrupt it. */
  void once(String name, Runnable work) {
    Thread.ofVirtual().name("isola-" + name + "-first").start(() -> attempt(name, work));
  }

  /** Runs a task on the calling thread and logs any failure. */
  void attempt(String name, Runnable work) {
    try {
      work.run();
    } catch (SandboxException e) {
      log.warning(name + " failed: " + e.fault().problem());
    } catch (RuntimeException | Error e) {
      // An error must not end the loop.
      log.warning(name + " failed and will be retried: " + e);
    }
  }

  /** Interrupts the recurring tasks; does not wait for them. */
  @Override
  public void close() {
    loops.forEach(Thread::interrupt);
  }
}
