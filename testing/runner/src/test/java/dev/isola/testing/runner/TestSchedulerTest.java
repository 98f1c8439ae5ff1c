package dev.isola.testing.runner;

import static dev.isola.testing.runner.TestResult.Outcome.FAILED;
import static dev.isola.testing.runner.TestResult.Outcome.NOT_RUN;
import static dev.isola.testing.runner.TestResult.Outcome.PASSED;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TestSchedulerTest {
  @TempDir Path folder;

  @Test
  void eachTestHasItsOutcomeAndReason() throws InterruptedException {
    List<TestResult> results = run(suite(Sample.class.getName()));
    assertThat(results)
        .extracting(TestResult::name, TestResult::outcome)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("passes()", PASSED),
            org.assertj.core.groups.Tuple.tuple("fails()", FAILED),
            org.assertj.core.groups.Tuple.tuple("isAborted()", NOT_RUN),
            org.assertj.core.groups.Tuple.tuple("isDisabled()", NOT_RUN),
            org.assertj.core.groups.Tuple.tuple("factory() > group > one", PASSED));
    assertThat(results)
        .filteredOn(one -> one.name().equals("fails()"))
        .singleElement()
        .satisfies(one -> assertThat(one.reason()).contains("one\ttwo").contains("three"));
    assertThat(results)
        .filteredOn(one -> one.name().equals("isAborted()"))
        .singleElement()
        .satisfies(one -> assertThat(one.shortReason()).isEqualTo("not installed: nothing"));
  }

  @Test
  void aProcessThatEndsFailsItsClassAndNotTheNext() throws InterruptedException {
    List<TestResult> results =
        run(suite(Sample.EndingSample.class.getName()), suite(Sample.class.getName()));
    assertThat(results)
        .filteredOn(one -> one.suite().endsWith("EndingSample"))
        .extracting(TestResult::outcome)
        .containsExactly(FAILED);
    assertThat(results).filteredOn(one -> one.outcome() == PASSED).hasSize(2);
  }

  @Test
  void aMissingClassIsAFailure() throws InterruptedException {
    assertThat(run(suite("dev.isola.testing.runner.Absent")))
        .extracting(TestResult::outcome)
        .containsExactly(FAILED);
  }

  @Test
  void programsCountTheirOwnTests() throws InterruptedException {
    assertThat(run(program("echo 'NOT RUN x: no root'; echo '2 passed, 0 failed' > counts")))
        .extracting(TestResult::outcome)
        .containsExactly(PASSED, PASSED, NOT_RUN);
    assertThat(run(program("echo '1 passed, 1 failed, 1 skipped' > counts; exit 1")))
        .extracting(TestResult::outcome)
        .containsExactly(PASSED, FAILED, NOT_RUN);
    assertThat(run(program("exit 0"))).extracting(TestResult::outcome).containsExactly(FAILED);
    assertThat(run(program("echo '1 passed, 0 failed' > counts; exit 1")))
        .extracting(TestResult::outcome)
        .containsExactly(PASSED, FAILED);
  }

  private Suite suite(String name) {
    return Suite.ofClass(module(), name, 1);
  }

  private Suite program(String script) {
    return new Suite(module(), "program", 1, List.of("sh", "-c", script), folder.resolve("counts"));
  }

  private Module module() {
    return new Module("sample", folder, Set.of(), Set.of(), 2, List.of(), List.of());
  }

  private List<TestResult> run(Suite... suites) throws InterruptedException {
    try {
      Files.deleteIfExists(folder.resolve("counts"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    List<TestResult> results = new ArrayList<>();
    List<String> command =
        List.of(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            TestWorker.class.getName(),
            "all");
    TestScheduler scheduler =
        new TestScheduler(2, folder, module -> command, one -> results.addAll(one.results()));
    List<Thread> threads = scheduler.start();
    for (Suite suite : suites) {
      scheduler.add(List.of(suite));
    }
    scheduler.complete();
    for (Thread thread : threads) {
      thread.join();
    }
    return results;
  }
}
