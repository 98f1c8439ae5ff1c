package dev.isola.engine;

import dev.isola.engine.api.Log;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Runs the engine's recurring work, each on a thread of its own. Work that fails is logged and runs
 * again after the next pause.
 */
final class TaskScheduler implements AutoCloseable {
  private final Log log;
  private final List<Thread> loops = new CopyOnWriteArrayList<>();

  TaskScheduler(Log log) {
    this.log = log;
  }

  /** Runs work after each pause, the first time after the first pause. */
  void every(Duration pause, String name, Runnable work) {
    loops.add(
        Thread.ofVirtual()
            .name("isola-" + name)
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(pause);
                      attempt(name, work);
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // the engine closes
                  }
                }));
  }

  /** Runs work once, beside the caller. It is not interrupted by {@link #close}. */
  void once(String name, Runnable work) {
    Thread.ofVirtual().name("isola-" + name + "-first").start(() -> attempt(name, work));
  }

  /** Runs work now; what goes wrong is logged. */
  void attempt(String name, Runnable work) {
    try {
      work.run();
    } catch (SandboxException e) {
      log.warning(name + " was not done: " + e.fault().problem());
    } catch (RuntimeException | Error e) {
      log.warning(name + " was not done, and is tried again: " + e); // a loop never ends by it
    }
  }

  /** Interrupts recurring work; does not wait for it. */
  @Override
  public void close() {
    loops.forEach(Thread::interrupt);
  }
}
