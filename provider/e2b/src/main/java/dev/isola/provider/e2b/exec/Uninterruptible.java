package dev.isola.provider.e2b.exec;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs an action to completion even if the calling thread is interrupted. */
final class Uninterruptible {
  private Uninterruptible() {}

  static void run(Duration timeout, Runnable action) {
    CompletableFuture<Void> done =
        CompletableFuture.runAsync(
            action, task -> Thread.ofVirtual().name("e2b-apart").start(task));
    Deadline deadline = Deadline.in(timeout);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          done.get(deadline.leftNanos(), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          return; // The action continues in the background.
        } catch (ExecutionException e) {
          if (e.getCause() instanceof SandboxException known) {
            switch (known.code()) {
              case SANDBOX_DESTROYED, SANDBOX_NOT_FOUND -> {
                return; // The action has ended.
              }
              default -> throw known;
            }
          }
          throw new IllegalStateException(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
