package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.testing.runner.TestResult.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ReportTest {
  @Test
  void aProviderThatCanRunAndDidNotIsAFailure() {
    Report report = new Report();
    report.add(new SuiteResult("x.SubprocessConformanceTest", 1, 0, List.of(kit(Outcome.NOT_RUN))));
    report.addMissingProviders();
    assertThat(report.count(Outcome.FAILED)).isEqualTo(1);
  }

  @Test
  void aProviderOfWhichOneCheckRanIsNone() {
    Report report = new Report();
    report.add(
        new SuiteResult(
            "x.SubprocessConformanceTest",
            1,
            0,
            List.of(kit(Outcome.NOT_RUN), kit(Outcome.PASSED))));
    report.addMissingProviders();
    assertThat(report.count(Outcome.FAILED)).isZero();
  }

  @Test
  void aLineOfTheTableIsReadAsItWasWritten() {
    TestResult result =
        new TestResult("m", "s", "a\tb\\n", Outcome.FAILED, 3, "one\ntwo\\three\r\t");
    assertThat(result.line()).doesNotContain("\n");
    assertThat(TestResult.parse(result.line())).isEqualTo(result);
  }

  @ParameterizedTest
  @CsvSource({
    "NOT RUN Exec.shell: the sandbox has no bash, the sandbox has no bash",
    "NOT RUN: not installed: podman, not installed: podman",
    "Assumption failed: NOT RUN: no root, no root",
    "switched off, switched off",
  })
  void reasonsAreCountedWithoutTheNameOfTheTest(String message, String reason) {
    assertThat(new TestResult("m", "s", "t", Outcome.NOT_RUN, 0, message).shortReason())
        .isEqualTo(reason);
  }

  @Test
  void whatWasNotRunReplacesTheTableOfThePage(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    String before = "one\n<!-- ./check --all --record writes this -->\n";
    Files.writeString(page, before + "an older table\n<!-- until here -->\ntwo\n");
    Report report = new Report();
    TestResult left =
        new TestResult("m", "x.RuncConformanceTest", "t", Outcome.NOT_RUN, 0, "no /tmp/x7/a | b");
    report.add(new SuiteResult(left.suite(), 1, 0, List.of(left, left, kit(Outcome.PASSED))));
    report.writeNotRun(page, "./check --all");
    assertThat(page)
        .hasContent(
            before
                + "`./check --all`: 1 passed, 0 failed, 2 NOT RUN.\n\n"
                + "| provider or module | NOT RUN | reason |\n|---|---|---|\n"
                + "| runc | 2 | no ... / b |\n<!-- until here -->\ntwo\n");
  }

  @Test
  void aPageWithoutItsMarksIsNotChanged(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    Files.writeString(page, "no marks\n");
    assertThatThrownBy(() -> new Report().writeNotRun(page, "./check"))
        .hasMessageContaining("place");
    assertThat(page).hasContent("no marks\n");
  }

  @Test
  void onlyARunOfAllTestsIsRecorded() {
    assertThat(Options.parse(List.of("--all", "--record"), false).rerun()).isTrue();
    assertThatThrownBy(() -> Options.parse(List.of("--record", "-pl", "engine"), false))
        .hasMessageContaining("all tests");
  }

  @Test
  void anUnknownOptionIsRefusedWithTheUsage() {
    assertThatThrownBy(() -> Options.parse(List.of("--al"), false))
        .hasMessageContaining("unknown option --al")
        .hasMessageContaining("--changed");
  }

  @Test
  void aContinuousIntegrationRunReusesNothing() {
    assertThat(Options.parse(List.of(), true).cache()).isFalse();
    assertThat(Options.parse(List.of(), false).cache()).isTrue();
    assertThat(Options.parse(List.of("--changed", "v1", "--all"), false).base()).contains("v1");
    assertThat(Options.parse(List.of("--changed", "--all"), false).base()).contains("HEAD");
  }

  private static TestResult kit(Outcome outcome) {
    return new TestResult(
        "provider/subprocess", "x.SubprocessConformanceTest", "t", outcome, 1, "unhealthy");
  }
}
