package dev.isola.host.network;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Lets something come to its end although the caller is interrupted: it takes some milliseconds,
 * each of its steps has a deadline, and half of it would have to be taken away again by the same
 * interrupted caller. The interrupt is there afterwards.
 */
final class Uninterruptible {
  private Uninterruptible() {}

  /** What is to be done. */
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
