package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.app.E2bSdkFixture.ProgramResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A1: runs programs that use E2B's published Python SDK against this server. NOT RUN if Python,
 * pip, the SDK or bubblewrap is not available.
 */
@Timeout(180)
class E2bPythonSdkTest {
  private static final Path PROGRAMS = E2bSdkFixture.PROGRAMS.resolve("python");
  private static final Path INSTALLED = Path.of("target/e2b-python").toAbsolutePath();
  private static final Path PYTHON = INSTALLED.resolve("bin/python");

  @TempDir static Path data;
  private static @Nullable E2bSdkFixture fixture;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    install();
    fixture = E2bSdkFixture.open(data);
  }

  @AfterAll
  static void end() {
    if (fixture != null) {
      fixture.close();
    }
  }

  /** Downloads the SDK once, in the pinned version. */
  private static void install() throws IOException, InterruptedException {
    Path wanted = PROGRAMS.resolve("requirements.txt");
    Path done = INSTALLED.resolve("requirements.txt");
    if (Files.exists(done) && Files.mismatch(done, wanted) < 0) {
      return;
    }
    Files.createDirectories(INSTALLED);
    try {
      require("Python", "python3", "-m", "venv", "--clear", INSTALLED.toString());
    } catch (IOException e) {
      abort("NOT RUN: there is no python3: " + e.getMessage());
    }
    require("the SDK", PYTHON.toString(), "-m", "pip", "install", "-q", "-r", wanted.toString());
    Files.copy(wanted, done, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void require(String what, String... command)
      throws IOException, InterruptedException {
    ProgramResult ended = E2bSdkFixture.run(data, Map.of(), command);
    if (ended.code() != 0) {
      abort("NOT RUN: " + what + " cannot be had: " + ended.output().strip());
    }
  }

  /** The number of tests per area is asserted, so that a missing test is noticed. */
  @ParameterizedTest
  @CsvSource({
    "commands, 17",
    "files, 13",
    "urls, 3",
    "watch, 4",
    "pty, 2",
    "lifecycle, 14",
    "volumes, 5",
    "async, 6"
  })
  void sdkProgramsPass(String area, int tests) throws IOException, InterruptedException {
    ProgramResult ended =
        Objects.requireNonNull(fixture)
            .program(PROGRAMS, PYTHON.toString(), "-B", "-m", "unittest", "test_" + area);
    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(ended.output()).contains("Ran " + tests + " tests").endsWith("\nOK\n");
  }
}
