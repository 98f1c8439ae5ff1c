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
  private static final Duration MAX_WARM_UP = Duration.ofSeconds(5);

  /**
   * The time after which a subject runs no further rounds; {@code n} of its result has the number
   * of iterations.
   */
  private static final Duration MAX_DURATION = Duration.ofSeconds(40);

  Benchmark(
      String benchmark,
      String reference,
      int concurrency,
      int n,
      int warmUp,
      double workEach,
      List<BenchSubject> subjects) {
    this(benchmark, reference, concurrency, n, warmUp, workEach, subjects, "");
  }

  /**
   * Runs the benchmark. A subject that fails is removed, and the reason is added to {@code
   * skippedSubjects}.
   */
  List<Result> run(List<SkippedSubject> skippedSubjects) throws InterruptedException {
    Map<BenchSubject, Samples> times = new LinkedHashMap<>();
    for (BenchSubject subject : subjects) {
      times.put(subject, Samples.NONE);
      warmUp(subject, times, skippedSubjects);
      times.replace(subject, Samples.NONE);
    }
    Map<BenchSubject, Long> spent = new HashMap<>();
    int rounds = Math.min(ROUNDS, n);
    for (int round = 0; round < rounds; round++) {
      for (BenchSubject subject : subjects) {
        if (spent.getOrDefault(subject, 0L) < MAX_DURATION.toNanos()) {
          int all = subject.iterations(n);
          long start = System.nanoTime();
          turn(subject, all * (round + 1) / rounds - all * round / rounds, times, skippedSubjects);
          spent.merge(subject, System.nanoTime() - start, Long::sum);
        }
      }
    }
    return results(times);
  }

  private void warmUp(
      BenchSubject subject, Map<BenchSubject, Samples> times, List<SkippedSubject> skippedSubjects)
      throws InterruptedException {
    int count = subject.iterations(warmUp);
    int step = Math.max(concurrency, count / ROUNDS);
    long start = System.nanoTime();
    for (int done = 0;
        done < count && System.nanoTime() - start < MAX_WARM_UP.toNanos();
        done += step) {
      turn(subject, Math.min(step, count - done), times, skippedSubjects);
    }
  }

  private void turn(
      BenchSubject subject,
      int count,
      Map<BenchSubject, Samples> times,
      List<SkippedSubject> skippedSubjects)
      throws InterruptedException {
    Samples before = times.get(subject);
    if (before == null || count == 0) {
      return; // The subject failed.
    }
    try {
      times.put(subject, before.plus(subject.work().run(count, concurrency)));
    } catch (IOException | RuntimeException e) {
      times.remove(subject);
      skippedSubjects.add(
          new SkippedSubject(subject.name(), "failed in " + benchmark + ": " + e.getMessage()));
    }
  }

  private List<Result> results(Map<BenchSubject, Samples> times) {
    List<Result> results = results(benchmark, times);
    if (!afterwards.isEmpty()) {
      Map<BenchSubject, Samples> after = new LinkedHashMap<>();
      times.forEach((subject, samples) -> after.put(subject, samples.cleanupSamples()));
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
        (subject, samples) ->
            results.add(
                new Result(
                    name,
                    subject.name(),
                    concurrency,
                    samples.count(),
                    samples.medianMs(),
                    samples.p90Ms(),
                    samples.p99Ms(),
                    samples.perSecond(workPerIteration),
                    one.isPresent()
                        ? OptionalDouble.of(samples.medianMs() / one.getAsDouble())
                        : one,
                    subject.bytesMoved().get())));
    return results;
  }
}
