package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventTest {
  private final List<String> turns = new ArrayList<>();
  private final List<Absent> absent = new ArrayList<>();

  private Contestant taking(String name, long millis) {
    return new Contestant(
        name,
        (n, concurrency) -> {
          turns.add(name + n);
          long[] nanos = new long[n];
          Arrays.fill(nanos, millis * 1_000_000);
          return Samples.of(n * millis * 1_000_000, nanos);
        });
  }

  private static Event event(int n, Contestant... contestants) {
    return new Event("work", "one", 1, n, 3, 1, List.of(contestants));
  }

  @Test
  void contestantsWarmUpAndThenTakeTurns() throws InterruptedException {
    List<Result> results = event(2, taking("one", 2), taking("two", 5)).play(absent);
    assertThat(turns).containsExactly("one3", "two3", "one1", "two1", "one1", "two1");
    assertThat(results).extracting(Result::n).containsExactly(2, 2);
    assertThat(results)
        .extracting(Result::ratio)
        .containsExactly(OptionalDouble.of(1), OptionalDouble.of(2.5));
    assertThat(absent).isEmpty();
  }

  @Test
  void everyIterationIsRunHoweverTheRoundsDivide() throws InterruptedException {
    assertThat(event(27, taking("one", 1)).play(absent))
        .singleElement()
        .extracting(Result::n)
        .isEqualTo(27);
  }

  @Test
  void whoFailsLeavesAndIsNamed() throws InterruptedException {
    Contestant failing =
        new Contestant(
            "bad",
            (n, concurrency) -> {
              throw new IOException("no room");
            });
    List<Result> results = event(2, failing, taking("two", 5)).play(absent);
    assertThat(results).extracting(Result::subject).containsExactly("two");
    assertThat(results).extracting(Result::ratio).containsExactly(OptionalDouble.empty());
    assertThat(absent).containsExactly(new Absent("bad", "failed in work: no room"));
  }

  @Test
  void severalAtOnceDoItAsOftenAsAsked() throws IOException, InterruptedException {
    AtomicInteger count = new AtomicInteger();
    Samples samples = Parallel.run(count::incrementAndGet, 21, 8);
    assertThat(count).hasValue(21);
    assertThat(samples.count()).isEqualTo(21);
  }
}
