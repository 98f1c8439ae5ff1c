package dev.isola.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;

/** Times repeated runs of one iteration on several virtual threads. */
final class Parallel {
  private Parallel() {}

  static Samples run(BenchSubject.Iteration once, int n, int threads)
      throws IOException, InterruptedException {
    return run(once, n, threads, System::nanoTime);
  }

  /** Runs n iterations at once; the time of each counts from an earlier moment. */
  static Samples runFrom(long start, BenchSubject.Iteration once, int n)
      throws IOException, InterruptedException {
    return run(once, n, n, () -> start);
  }

  private static Samples run(
      BenchSubject.Iteration once, int n, int threads, LongSupplier startOfIteration)
      throws IOException, InterruptedException {
    long[] nanos = new long[n];
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Void>> loops = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int first = thread;
        loops.add(
            () -> {
              for (int i = first; i < n; i += threads) {
                long start = startOfIteration.getAsLong();
                once.run();
                nanos[i] = System.nanoTime() - start;
              }
              return null;
            });
      }
      long start = System.nanoTime();
      for (Future<Void> loop : executor.invokeAll(loops)) {
        loop.get();
      }
      return Samples.of(System.nanoTime() - start, nanos);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      String why = cause instanceof IOException ? cause.getMessage() : String.valueOf(cause);
      throw new IOException(why, cause);
    }
  }
}
