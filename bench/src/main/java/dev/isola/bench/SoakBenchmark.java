package dev.isola.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/** Many concurrent clients for a period of time. A single error invalidates the result. */
final class SoakBenchmark {
  private static final int CLIENTS = 64;
  private static final int SECONDS = 60;

  private SoakBenchmark() {}

  /** Returns the benchmark; {@code n} of the plan is its duration in seconds. */
  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) {
    Duration time = Duration.ofSeconds(plan.n().orElse(SECONDS));
    List<BenchSubject> subjects = new ArrayList<>();
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .server(benchProvider)
          .ifPresent(
              benchServer ->
                  subjects.add(
                      new BenchSubject(
                          benchServer.name(), (n, clients) -> soak(benchServer, clients, time))));
    }
    return List.of(new Benchmark("soak", "", CLIENTS, 1, 0, 1, subjects));
  }

  private static Samples soak(BenchServer benchServer, int clients, Duration time)
      throws IOException, InterruptedException {
    long begun = System.nanoTime();
    List<Callable<long[]>> loops = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      loops.add(() -> loop(benchServer, begun + time.toNanos()));
    }
    List<long[]> times = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<long[]> loop : executor.invokeAll(loops)) {
        times.add(loop.get());
      }
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    }
    return Samples.of(
        System.nanoTime() - begun, times.stream().flatMapToLong(LongStream::of).toArray());
  }

  private static long[] loop(BenchServer benchServer, long until) throws IOException {
    LongStream.Builder times = LongStream.builder();
    for (long start = System.nanoTime(); start < until; start = System.nanoTime()) {
      ApiBenchmarks.run(benchServer);
      times.add(System.nanoTime() - start);
    }
    return times.build().toArray();
  }
}
