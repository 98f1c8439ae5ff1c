package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture.CommandResult;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line of a release, without additional commands. */
class ReleaseTest {
  @TempDir Path folder;

  private CommandResult call(String... args) {
    return new CommandLineFixture(folder.resolve("data")).call(args);
  }

  @Test
  void benchReportsThatItNeedsAClone() {
    String line =
        "isola: benchmarks are not included in releases; run ./isola bench in a clone of the"
            + " repository\n";
    for (String[] args :
        new String[][] {
          {"bench"},
          {"bench", "exec", "--n", "5", "--against", "raw"},
          {"bench", "--no-such-option"}
        }) {
      CommandResult called = call(args);
      assertThat(called.code()).isEqualTo(125);
      assertThat(called.out()).isEmpty();
      assertThat(called.err()).isEqualTo(line);
    }
  }

  @Test
  void helpAndCompletionOmitBench() {
    assertThat(call("help").out()).contains("  conformance ").doesNotContain("bench");
    assertThat(call("completion").out()).contains("conformance").doesNotContain("bench");
    assertThat(call("help", "bench").out()).contains("run ./isola bench in a clone");
  }
}
