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
 * One benchmark at one concurrency: all contestants take turns, so that a machine that gets busy
 * meanwhile is busy for all of them.
 *
 * @param reference whose median is the 1 of the ratios
 * @param workEach what one iteration does, in the unit of {@link Result#perSecond}
 * @param warmUp iterations before the clock counts, enough for the JIT to settle
 * @param afterwards what to call the cleaning up in the results; empty when it is not reported
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

  /** Who takes seconds for each needs no more to be warm. */
  private static final Duration WARM = Duration.ofSeconds(5);

  /** Who has taken so long does no more rounds; {@code n} of its result says how many it did. */
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

  /** Plays it; a contestant that fails leaves, and {@code absent} learns why. */
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
      return; // it left
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
