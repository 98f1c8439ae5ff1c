package dev.isola.host.network;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Completes a task even if the caller is interrupted. The task takes milliseconds and has timeouts
 * of its own; if it were interrupted, the same caller would have to undo half of it. The interrupt
 * status is preserved.
 */
final class Uninterruptible {
  private Uninterruptible() {}

  /** The task to complete. */
  interface Task<T> {
    T call() throws IOException;
  }

  static <T> T call(Task<T> task) throws IOException {
    CompletableFuture<T> end = new CompletableFuture<>();
    Thread.startVirtualThread(
        () -> {
          try {
            end.complete(task.call());
          } catch (Throwable e) {
            end.completeExceptionally(e);
          }
        });
    try {
      return end.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException failed) {
        throw failed;
      }
      throw e;
    }
  }
}
