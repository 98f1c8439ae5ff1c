package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A1: runs programs that use E2B's published Python SDK against this server. NOT RUN if Python,
 * pip, the SDK or bubblewrap is not available.
 */
@Timeout(180)
@Tag("all")
class E2bPythonSdkTest {
  private static final Path PROGRAMS = E2bSdkFixture.PROGRAMS.resolve("python");

  @TempDir static Path data;
  private static @Nullable Path python;
  private static @Nullable E2bSdkFixture fixture;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    python = E2bPackages.python();
    fixture = E2bSdkFixture.open(data);
  }

  @AfterAll
  static void end() {
    if (fixture != null) {
      fixture.close();
    }
  }

  /** The number of tests per area is asserted, so that a missing test is noticed. */
  @ParameterizedTest
  @CsvSource({
    "basics, 9",
    "commands, 18",
    "files, 13",
    "urls, 3",
    "ports, 4",
    "domain, 2",
    "watch, 5",
    "pty, 2",
    "lifecycle, 15",
    "templates, 5",
    "volumes, 5",
    "async, 6"
  })
  void sdkProgramsPass(String area, int tests) throws IOException, InterruptedException {
    if (List.of("basics", "ports", "domain").contains(area)) {
      E2bSdkFixture.refuseWithoutPythonInTheImage();
    }
    ProgramResult ended =
        Objects.requireNonNull(fixture)
            .program(
                PROGRAMS,
                Objects.requireNonNull(python).toString(),
                "-B",
                "-m",
                "unittest",
                "test_" + area);
    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(ended.output()).contains("Ran " + tests + " tests").endsWith("\nOK\n");
  }
}
