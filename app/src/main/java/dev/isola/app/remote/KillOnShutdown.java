package dev.isola.app.remote;

import dev.isola.client.Execution;
import dev.isola.client.error.IsolaException;
import java.time.Duration;

/** Kills a command in a sandbox when this process is told to end before it (Ctrl-C, SIGTERM). */
final class KillOnShutdown implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(6);

  private final Execution execution;
  private final Thread hook = new Thread(this::kill, "isola-end");

  private KillOnShutdown(Execution execution) {
    this.execution = execution;
  }

  static KillOnShutdown register(Execution execution) {
    KillOnShutdown end = new KillOnShutdown(execution);
    Runtime.getRuntime().addShutdownHook(end.hook);
    return end;
  }

  /** In a thread of its own: a server that hangs must not hold the process. */
  private void kill() {
    Thread killing = Thread.ofPlatform().daemon().start(this::killQuietly);
    try {
      killing.join(PATIENCE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void killQuietly() {
    try {
      execution.kill();
    } catch (IsolaException e) {
      // It has ended already, or there is nobody to tell.
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending already.
    }
  }
}
