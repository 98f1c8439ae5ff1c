package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the quick part of the hostile egress cases on the test internet: {@code
 * testing/egress-here.sh --quick}. NOT RUN without root, bubblewrap or the programs of the
 * internet. All cases on all providers: {@code testing/egress-here.sh}.
 */
@Timeout(480)
class EgressCasesTest {
  private static final Pattern COUNTS =
      Pattern.compile("(?m)^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) not run$");
  private static final int MIN_CASES = 60;

  @TempDir private Path folder;

  @Test
  void hostileConnectionsAreDeniedAndAllowedOnesWork() throws IOException, InterruptedException {
    assertThat(passed("--quick")).isGreaterThan(MIN_CASES);
  }

  /** These start servers of their own. */
  @Tag("all")
  @Test
  void rulesHoldForFurtherServersAndAfterACrash() throws IOException, InterruptedException {
    assertThat(passed("--only", "limits against the spec,killed and started again")).isEqualTo(2);
  }

  private int passed(String... arguments) throws IOException, InterruptedException {
    ProgramResult ended = TestInternet.run(folder, Duration.ofMinutes(7), arguments);
    Matcher counts = COUNTS.matcher(ended.output());
    assertThat(counts.find()).as(ended.output()).isTrue();
    assertThat(ended.code()).as(ended.output()).isZero();
    return Integer.parseInt(counts.group(1));
  }
}
