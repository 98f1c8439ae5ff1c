package dev.isola.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * One benchmark at one concurrency. The subjects take turns, so that other load on the machine
 * affects all of them.
 *
 * @param reference the subject whose median is the 1 of the ratios
 * @param workPerIteration the work of one iteration, in the unit of {@link Result#perSecond}
 * @param warmUp the number of iterations before measurement, enough for the JIT compiler to settle
 * @param afterwards the name of the cleanup in the results; empty if it is not reported
 */
record Benchmark(
    String benchmark,
    String reference,
    int concurrency,
    int n,
    int warmUp,
    double workPerIteration,
    List<BenchSubject> subjects,
    String afterwards) {
  private static final int ROUNDS = 10;

  /**
   * The maximum duration of a warm-up; a subject that takes seconds per iteration needs no more.
   */
  private static final Duration WARM = Duration.ofSeconds(5);

  /**
   * The time after which a subject runs no further rounds; {@code n} of its result has the number
   * of iterations.
   */
  private static final Duration ENOUGH = Duration.ofSeconds(40);

  Benchmark(
      String benchmark,
      String reference,
      int concurrency,
      int n,
      int warmUp,
      double workEach,
      List<BenchSubject> contestants) {
    this(benchmark, reference, concurrency, n, warmUp, workEach, contestants, "");
  }

  /**
   * Runs the benchmark. A subject that fails is removed, and the reason is added to {@code absent}.
   */
  List<Result> run(List<SkippedSubject> absent) throws InterruptedException {
    Map<BenchSubject, Samples> times = new LinkedHashMap<>();
    for (BenchSubject contestant : subjects) {
      times.put(contestant, Samples.NONE);
      warmUp(contestant, times, absent);
      times.replace(contestant, Samples.NONE);
    }
    Map<BenchSubject, Long> spent = new HashMap<>();
    int rounds = Math.min(ROUNDS, n);
    for (int round = 0; round < rounds; round++) {
      for (BenchSubject contestant : subjects) {
        if (spent.getOrDefault(contestant, 0L) < ENOUGH.toNanos()) {
          int all = contestant.iterations(n);
          long start = System.nanoTime();
          turn(contestant, all * (round + 1) / rounds - all * round / rounds, times, absent);
          spent.merge(contestant, System.nanoTime() - start, Long::sum);
        }
      }
    }
    return results(times);
  }

  private void warmUp(
      BenchSubject contestant, Map<BenchSubject, Samples> times, List<SkippedSubject> absent)
      throws InterruptedException {
    int count = contestant.iterations(warmUp);
    int step = Math.max(concurrency, count / ROUNDS);
    long start = System.nanoTime();
    for (int done = 0; done < count && System.nanoTime() - start < WARM.toNanos(); done += step) {
      turn(contestant, Math.min(step, count - done), times, absent);
    }
  }

  private void turn(
      BenchSubject contestant,
      int count,
      Map<BenchSubject, Samples> times,
      List<SkippedSubject> absent)
      throws InterruptedException {
    Samples before = times.get(contestant);
    if (before == null || count == 0) {
      return; // The subject failed.
    }
    try {
      times.put(contestant, before.plus(contestant.work().run(count, concurrency)));
    } catch (IOException | RuntimeException e) {
      times.remove(contestant);
      absent.add(
          new SkippedSubject(contestant.name(), "failed in " + benchmark + ": " + e.getMessage()));
    }
  }

  private List<Result> results(Map<BenchSubject, Samples> times) {
    List<Result> results = results(benchmark, times);
    if (!afterwards.isEmpty()) {
      Map<BenchSubject, Samples> after = new LinkedHashMap<>();
      times.forEach((contestant, samples) -> after.put(contestant, samples.cleanupSamples()));
      after.values().removeIf(samples -> samples.count() == 0);
      results.addAll(results(afterwards, after));
    }
    return results;
  }

  private List<Result> results(String name, Map<BenchSubject, Samples> times) {
    OptionalDouble one =
        times.entrySet().stream()
            .filter(entry -> entry.getKey().name().equals(reference))
            .mapToDouble(entry -> entry.getValue().medianMs())
            .findFirst();
    List<Result> results = new ArrayList<>();
    times.forEach(
        (contestant, samples) ->
            results.add(
                new Result(
                    name,
                    contestant.name(),
                    concurrency,
                    samples.count(),
                    samples.medianMs(),
                    samples.p90Ms(),
                    samples.p99Ms(),
                    samples.perSecond(workPerIteration),
                    one.isPresent()
                        ? OptionalDouble.of(samples.medianMs() / one.getAsDouble())
                        : one,
                    contestant.bytesMoved().get())));
    return results;
  }
}
