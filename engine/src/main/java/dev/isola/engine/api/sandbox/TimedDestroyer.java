package dev.isola.engine.api.sandbox;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/**
 * Destroys sandboxes for callers that wait for a limited time. After that time the destruction
 * continues, because a sandbox cannot be used again. However many callers wait for a sandbox, one
 * thread destroys it.
 */
final class TimedDestroyer {
  private final BiConsumer<SandboxId, DestroyOptions> destroyer;
  private final Map<Destruction, FutureTask<Boolean>> running = new ConcurrentHashMap<>();

  /** Forced and unforced destruction differ in their outcome, so callers do not share them. */
  private record Destruction(SandboxId id, boolean force) {}

  TimedDestroyer(BiConsumer<SandboxId, DestroyOptions> destroyer) {
    this.destroyer = destroyer;
  }

  /**
   * Destroys a sandbox and returns when nothing of it is left.
   *
   * @param options with the time that the caller waits; the provider gets at least its usual time
   * @throws dev.isola.spi.error.DeadlineExceeded if the sandbox still exists after that time
   */
  void destroy(SandboxId id, DestroyOptions options) {
    Duration usual = DestroyOptions.NORMAL.timeout();
    Duration timeout = options.timeout().compareTo(usual) < 0 ? usual : options.timeout();
    FutureTask<Boolean> task =
        running.computeIfAbsent(
            new Destruction(id, options.force()),
            key -> start(key, new DestroyOptions(options.force(), timeout)));
    try {
      task.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "sandbox "
                  + id
                  + " still exists after "
                  + options.timeout().toMillis()
                  + " ms; its destruction continues",
              "wait for the state destroyed")
          .sandbox(id)
          .exception(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SandboxException known) {
        throw known;
      }
      throw new IllegalStateException("destroying sandbox " + id + " failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "waiting for the end of sandbox " + id + " was cancelled",
              "wait again")
          .sandbox(id)
          .exception(e);
    }
  }

  private FutureTask<Boolean> start(Destruction key, DestroyOptions options) {
    FutureTask<Boolean> task =
        new FutureTask<>(
            () -> {
              destroyer.accept(key.id(), options);
              return true;
            });
    Thread.ofVirtual()
        .name("isola-destroy-" + key.id())
        .start(
            () -> {
              try {
                task.run();
              } finally {
                running.remove(key, task);
              }
            });
    return task;
  }
}
