package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
  private static final Path TESTING = Path.of("../testing").toAbsolutePath().normalize();
  private static final Pattern COUNTS =
      Pattern.compile("(?m)^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) not run$");
  private static final int MIN_CASES = 60;

  @TempDir private Path folder;

  @Test
  void hostileConnectionsAreDeniedAndAllowedOnesWork() throws IOException, InterruptedException {
    if (!System.getProperty("user.name").equals("root")) {
      abort("NOT RUN: a network namespace with its own internet needs root here");
    }
    for (String program : List.of("unshare", "ip", "python3", "openssl", "curl", "setpriv")) {
      if (!isInstalled(program)) {
        abort("NOT RUN: " + program + " is not installed");
      }
    }
    E2bSdkFixture.unhealthy(folder)
        .ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
    IsolaScript.addTo(folder);
    ProgramResult ended =
        ProgramResult.run(
            folder,
            Map.of("ISOLA", folder.resolve("isola").toString()),
            Duration.ofMinutes(7),
            TESTING.resolve("egress-here.sh").toString(),
            "--quick");
    Matcher counts = COUNTS.matcher(ended.output());
    assertThat(counts.find()).as(ended.output()).isTrue();
    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(Integer.parseInt(counts.group(1))).as(ended.output()).isGreaterThan(MIN_CASES);
  }

  private static boolean isInstalled(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin";
    return List.of(path.split(":")).stream()
        .anyMatch(one -> !one.isEmpty() && Files.isExecutable(Path.of(one, program)));
  }
}
