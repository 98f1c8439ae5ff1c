package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A1: runs programs written for E2B's published JavaScript SDK against this server, with only two
 * URLs changed. NOT RUN if Node.js, the SDK or bubblewrap is not available.
 */
@Timeout(180)
class E2bSdkTest {
  private static final Path PROGRAMS = E2bSdkFixture.PROGRAMS;
  private static final Pattern COUNT = Pattern.compile("(?m)^# (pass|fail) ([0-9]+)$");

  @TempDir static Path data;
  private static @Nullable E2bSdkFixture fixture;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    E2bPackages.nodeModules();
    copyPrograms();
    fixture = E2bSdkFixture.open(data);
  }

  @AfterAll
  static void end() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private static void copyPrograms() throws IOException {
    Path programs = Files.createDirectories(E2bPackages.NODE.resolve("test"));
    try (var files = Files.list(PROGRAMS.resolve("test"))) {
      for (Path file : files.toList()) {
        Files.copy(file, programs.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"basics, 9", "commands, 21", "files, 20", "lifecycle, 12"})
  void sdkProgramsPass(String area, int tests) throws IOException, InterruptedException {
    run(area, tests);
  }

  @Tag("all")
  @ParameterizedTest
  @CsvSource({
    "urls, 7",
    "ports, 5",
    "domain, 3",
    "watch, 5",
    "pty, 3",
    "git, 3",
    "snapshots, 3",
    "templates, 9",
    "volumes, 7",
    "interpreter, 7"
  })
  void sdkProgramsOfFurtherAreasPass(String area, int tests)
      throws IOException, InterruptedException {
    run(area, tests);
  }

  /** The number of tests per area is asserted, so that a missing test is noticed. */
  private static void run(String area, int tests) throws IOException, InterruptedException {
    if (List.of("basics", "lifecycle", "ports", "domain", "interpreter").contains(area)) {
      E2bSdkFixture.refuseWithoutPythonInTheImage();
    }
    ProgramResult ended =
        Objects.requireNonNull(fixture)
            .program(
                E2bPackages.NODE,
                "node",
                "--test",
                "--test-reporter=tap",
                "test/" + area + ".test.mjs");
    assertThat(ended.code()).as(ended.output()).isZero();
    Matcher counts = COUNT.matcher(ended.output());
    assertThat(counts.find()).as(ended.output()).isTrue();
    assertThat(counts.group(1)).isEqualTo("pass");
    assertThat(Integer.parseInt(counts.group(2))).isEqualTo(tests);
  }
}
