package dev.isola.app.remote;

import dev.isola.client.Execution;
import dev.isola.client.error.IsolaException;
import java.time.Duration;

/** Kills a command in a sandbox if this process is terminated first (Ctrl-C, SIGTERM). */
public final class KillOnShutdown implements AutoCloseable {
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(6);

  private final Execution execution;
  private final Thread hook = new Thread(this::kill, "isola-end");

  private KillOnShutdown(Execution execution) {
    this.execution = execution;
  }

  public static KillOnShutdown register(Execution execution) {
    KillOnShutdown end = new KillOnShutdown(execution);
    Runtime.getRuntime().addShutdownHook(end.hook);
    return end;
  }

  /** On a separate thread, so that a hanging server does not block the exit. */
  private void kill() {
    Thread killing = Thread.ofPlatform().daemon().start(this::killQuietly);
    try {
      killing.join(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void killQuietly() {
    try {
      execution.kill();
    } catch (IsolaException e) {
      // The command has already exited, or the server is unreachable.
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is already shutting down.
    }
  }
}
