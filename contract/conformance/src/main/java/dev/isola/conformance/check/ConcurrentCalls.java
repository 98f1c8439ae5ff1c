package dev.isola.conformance.check;

import dev.isola.conformance.CheckFailed;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;

/** Runs calls concurrently, each on its own thread. */
final class ConcurrentCalls {
  private ConcurrentCalls() {}

  /** A running call. */
  record Call<T>(FutureTask<T> task, Thread thread) {
    /**
     * Returns the result of the call or throws its exception; fails if the call takes longer than
     * {@code timeout}.
     */
    T get(Duration timeout, String promise) throws InterruptedException {
      try {
        return task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        thread.interrupt();
        throw new CheckFailed("not within " + timeout.toSeconds() + " s: " + promise);
      } catch (ExecutionException e) {
        throw unwrapped(e);
      }
    }
  }

  static <T> Call<T> start(Callable<T> action) {
    FutureTask<T> task = new FutureTask<>(action);
    return new Call<>(task, Thread.ofVirtual().start(task));
  }

  /** Makes {@code count} concurrent calls and returns their results in order. */
  static <T> List<T> all(int count, IntFunction<T> call) throws InterruptedException {
    List<Callable<T>> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      calls.add(() -> call.apply(number));
    }
    return all(calls);
  }

  static <T> List<T> all(List<Callable<T>> calls) throws InterruptedException {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> future : threads.invokeAll(calls, 60, TimeUnit.SECONDS)) {
        results.add(future.get());
      }
      return results;
    } catch (CancellationException e) {
      throw new CheckFailed("not within 60 s: " + calls.size() + " calls at once return");
    } catch (ExecutionException e) {
      throw unwrapped(e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static RuntimeException unwrapped(ExecutionException e) {
    return switch (e.getCause()) {
      case SandboxException known -> known;
      case CheckFailed failed -> failed;
      case null -> new CheckFailed("a call failed: " + e);
      default -> new CheckFailed("a call threw " + e.getCause());
    };
  }
}
