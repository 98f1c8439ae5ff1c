package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReportTest {
  @Test
  void jsonHasExactlyTheseFields() {
    Report report =
        new Report(
            List.of(
                new Result(
                    "exec", "raw", 8, 2000, 0.123456, 0.5, 1, 1.0e9, OptionalDouble.of(1.23456)),
                new Result("exec", "x", 1, 5, 2, 2.5, 3, 4.26, OptionalDouble.empty())),
            List.of(new Comparison("exec", 1, "x", "docker exec", 42.125)),
            List.of(
                new Density(
                    "x", 3, 3, 2, 1000, 1200, OptionalLong.of(5), 7, 8, 1.5, 0.25, List.of())),
            List.of(new MemoryForks("x", 10, 100, 1, 10, 9, 150.25, 300, 71.5, OptionalLong.of(5))),
            List.of(new SkippedSubject("cp", "not installed")),
            Map.of("cpus", 2));
    assertThat(report.json().toString())
        .isEqualTo(
            "{results=[{benchmark=exec, subject=raw, concurrency=8, n=2000, medianMs=0.1235,"
                + " p90Ms=0.5, p99Ms=1, perSecond=1000000000, ratio=Optional[1.235]},"
                + " {benchmark=exec, subject=x, concurrency=1, n=5, medianMs=2, p90Ms=2.5, p99Ms=3,"
                + " perSecond=4.3, ratio=Optional.empty}],"
                + " comparisons=[{benchmark=exec, concurrency=1, subject=x, than=docker exec,"
                + " times=42.13}],"
                + " density=[{subject=x, count=3, answered=3, processes=2, privateBytes=1000,"
                + " privateBytesMost=1200, chargedBytes=Optional[5], serverBytes=7, heapBytes=8,"
                + " createMs=1.5, destroyMs=0.25, left=[]}],"
                + " memoryForks=[{benchmark=fork-memory-10, subject=x, forks=10, heldBytes=100, n=1,"
                + " answered=10, continued=9, medianMs=150.25, slowestMs=300, frozenMs=71.5,"
                + " chargedBytes=Optional[5], publishedByOthers="
                + MemoryForks.PUBLISHED
                + "}],"
                + " absent=[{subject=cp, reason=not installed}], machine={cpus=2}}");
  }

  @Test
  void reportsTheMachine() {
    assertThat(new MachineReport().json(Map.of("docker", "1")))
        .containsKeys("cpus", "memory", "kernel", "architecture", "java", "versions", "loadBefore");
  }

  @Test
  void providersAreComparedWithOtherSubjectsOfTheSameBenchmark() {
    List<Comparison> comparisons =
        Comparison.of(
            List.of(
                result("exec", "raw", 1, 1),
                result("exec", "ours", 1, 2),
                result("exec", "theirs", 1, 4),
                result("exec", "docker exec", 1, 80),
                result("exec", "docker exec", 8, 800),
                result("create", "docker run", 1, 300)),
            Set.of("ours", "theirs"));
    assertThat(comparisons)
        .containsExactly(
            new Comparison("exec", 1, "ours", "raw", 0.5),
            new Comparison("exec", 1, "ours", "docker exec", 40),
            new Comparison("exec", 1, "theirs", "raw", 0.25),
            new Comparison("exec", 1, "theirs", "docker exec", 20));
  }

  private static Result result(String benchmark, String subject, int concurrency, double median) {
    return new Result(
        benchmark, subject, concurrency, 5, median, median, median, 1, OptionalDouble.empty());
  }

  @Test
  void unresponsiveOrLeakingSandboxFailsDensity() {
    assertThat(density(3, List.of()).passed()).isTrue();
    assertThat(density(2, List.of()).passed()).isFalse();
    assertThat(density(3, List.of("process 7")).passed()).isFalse();
  }

  @Test
  void forkThatDidNotContinueFailsForksOfMemory() {
    assertThat(forks(20, 20).passed()).isTrue();
    assertThat(forks(20, 19).passed()).isFalse();
    assertThat(forks(19, 19).passed()).isFalse();
  }

  private static MemoryForks forks(int answered, int continued) {
    return new MemoryForks("x", 10, 1, 2, answered, continued, 1, 1, 1, OptionalLong.empty());
  }

  private static Density density(int answered, List<String> left) {
    return new Density("x", 3, answered, 2, 1, 1, OptionalLong.empty(), 1, 1, 1, 1, left);
  }
}
