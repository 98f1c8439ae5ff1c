package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BenchmarkTest {
  private final List<String> turns = new ArrayList<>();
  private final List<SkippedSubject> skippedSubjects = new ArrayList<>();

  private BenchSubject taking(String name, long millis) {
    return new BenchSubject(
        name,
        (n, concurrency) -> {
          turns.add(name + n);
          long[] nanos = new long[n];
          Arrays.fill(nanos, millis * 1_000_000);
          return Samples.of(n * millis * 1_000_000, nanos);
        });
  }

  private static Benchmark event(int n, BenchSubject... subjects) {
    return new Benchmark("work", "one", 1, n, 3, 1, List.of(subjects));
  }

  @Test
  void subjectsWarmUpAndTakeTurns() throws InterruptedException {
    List<Result> results = event(2, taking("one", 2), taking("two", 5)).run(skippedSubjects);
    assertThat(turns)
        .containsExactly(
            "one1", "one1", "one1", "two1", "two1", "two1", "one1", "two1", "one1", "two1");
    assertThat(results).extracting(Result::n).containsExactly(2, 2);
    assertThat(results)
        .extracting(Result::ratio)
        .containsExactly(OptionalDouble.of(1), OptionalDouble.of(2.5));
    assertThat(skippedSubjects).isEmpty();
  }

  @Test
  void allIterationsRunForAnyRoundSize() throws InterruptedException {
    assertThat(event(27, taking("one", 1)).run(skippedSubjects))
        .singleElement()
        .extracting(Result::n)
        .isEqualTo(27);
  }

  @Test
  void failingSubjectIsSkippedWithTheReason() throws InterruptedException {
    BenchSubject failing =
        new BenchSubject(
            "bad",
            (n, concurrency) -> {
              throw new IOException("no room");
            });
    List<Result> results = event(2, failing, taking("two", 5)).run(skippedSubjects);
    assertThat(results).extracting(Result::subject).containsExactly("two");
    assertThat(results).extracting(Result::ratio).containsExactly(OptionalDouble.empty());
    assertThat(skippedSubjects)
        .containsExactly(new SkippedSubject("bad", "failed in work: no room"));
  }

  /** The successful rounds of a failed subject are not reported. */
  @Test
  void subjectThatFailsLateHasNoResult() throws InterruptedException {
    AtomicInteger turn = new AtomicInteger();
    BenchSubject failing =
        new BenchSubject(
            "one",
            (n, concurrency) -> {
              if (turn.incrementAndGet() > 3) {
                throw new IOException("it broke");
              }
              return Samples.of(1, new long[n]);
            });
    List<Result> results = event(10, failing, taking("two", 5)).run(skippedSubjects);
    assertThat(results).extracting(Result::subject).containsExactly("two");
    assertThat(results).extracting(Result::ratio).containsExactly(OptionalDouble.empty());
    assertThat(skippedSubjects)
        .containsExactly(new SkippedSubject("one", "failed in work: it broke"));
  }

  @Test
  void slowSubjectRunsFewerIterations() throws InterruptedException {
    BenchSubject slow = taking("slow", 50).withPace(40);
    List<Result> results =
        new Benchmark("work", "one", 1, 2000, 1000, 1, List.of(taking("one", 1), slow))
            .run(skippedSubjects);
    assertThat(results).extracting(Result::n).containsExactly(2000, 50);
    assertThat(turns.subList(0, 10)).containsOnly("one100");
    assertThat(turns.subList(10, 22)).containsOnly("slow2");
    assertThat(slow.iterations(100)).isEqualTo(20);
    assertThat(slow.iterations(3)).isEqualTo(3);
  }

  @Test
  void timedCleanupIsASeparateResult() throws InterruptedException {
    BenchSubject both =
        new BenchSubject(
            "one", (n, concurrency) -> Samples.of(8_000_000, 8_000_000).withAfter(2_000_000));
    Benchmark event =
        new Benchmark("make", "two", 1, 1, 1, 1, List.of(both, taking("two", 4)), "unmake");
    List<Result> results = event.run(skippedSubjects);
    assertThat(results).extracting(Result::benchmark).containsExactly("make", "make", "unmake");
    assertThat(results).extracting(Result::medianMs).containsExactly(8.0, 4.0, 2.0);
    assertThat(results.getLast().ratio()).isEmpty();
  }

  @Test
  void concurrentIterationsRunTheRequestedNumber() throws IOException, InterruptedException {
    AtomicInteger count = new AtomicInteger();
    Samples samples = Parallel.run(count::incrementAndGet, 21, 8);
    assertThat(count).hasValue(21);
    assertThat(samples.count()).isEqualTo(21);
  }
}
