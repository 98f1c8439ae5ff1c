package dev.isola.provider.subprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.Destroy;
import dev.isola.spi.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shapes of process trees that get away from naive killers. Each has its control: it was alive
 * before.
 */
final class ProcessTreeTest extends SubprocessFixture {
  private static int alive(String mark) {
    int found = 0;
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      for (Path process : processes) {
        try {
          if (Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1)
              .contains(mark)) {
            found++;
          }
        } catch (IOException gone) {
          continue; // it ended while we looked, or is not ours to look at
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return found;
  }

  private static final String PLAIN = "sleep 1000 & sleep 1000 & wait";
  private static final String SETSID = "setsid sleep 1000 & setsid sleep 1000 & wait";
  private static final String DOUBLE_FORK =
      "(setsid sh -c 'sleep 1000 & sleep 1000 &' &); sleep 1000";
  private static final String NOHUP = "nohup sleep 1000 >/dev/null 2>&1 & sleep 1000";
  private static final String IGNORES_TERM =
      "sh -c 'trap \"\" TERM INT HUP QUIT; while :; do sleep 1; done' & sleep 1000";
  private static final String STOPPED = "sleep 1000 & kill -STOP $!; sleep 1000";
  private static final String PIPE_HOLDER = "sleep 1000 | sleep 1000 & sleep 1000";

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, SETSID, DOUBLE_FORK, NOHUP, IGNORES_TERM, STOPPED, PIPE_HOLDER})
  void nothingSurvivesATimeout(String shape) {
    String mark = UUID.randomUUID().toString();
    Sandbox sandbox = create();
    ExecResult result =
        sandbox.run(Command.shell(shape).withEnv("MARK", mark).withTimeout(Duration.ofMillis(500)));
    assertThat(result.timedOut()).isTrue();
    assertThat(alive(mark)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, SETSID, DOUBLE_FORK, NOHUP, IGNORES_TERM, STOPPED, PIPE_HOLDER})
  void nothingSurvivesAKillOrADestroy(String shape) {
    String killed = UUID.randomUUID().toString();
    String destroyed = UUID.randomUUID().toString();
    Sandbox sandbox = create();
    Execution first = sandbox.start(Command.shell(shape).withEnv("MARK", killed));
    Execution second = sandbox.start(Command.shell(shape).withEnv("MARK", destroyed));
    await().until(() -> alive(killed) >= 2 && alive(destroyed) >= 2);
    first.kill();
    await().atMost(Duration.ofSeconds(2)).until(() -> alive(killed) == 0);
    assertThat(alive(destroyed)).as("the other command is not touched").isGreaterThanOrEqualTo(2);
    assertThat(first.await()).isNotNull();
    second.close();
    provider.destroy(sandbox.id(), Destroy.NORMAL);
    assertThat(alive(destroyed)).isZero();
  }
}
