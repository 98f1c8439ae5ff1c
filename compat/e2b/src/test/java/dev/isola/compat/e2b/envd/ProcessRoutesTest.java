package dev.isola.compat.e2b.envd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A1: timeouts of processes, and how long an ended one can be connected to. */
class ProcessRoutesTest {
  private static final Instant BEGIN = Instant.parse("2026-01-02T03:04:05Z");

  private static ExecutionInfo info(Optional<Instant> end) {
    return new ExecutionInfo(
        new ExecutionId("1"),
        7,
        Optional.empty(),
        List.of("true"),
        Optional.empty(),
        Optional.empty(),
        BEGIN,
        Optional.empty(),
        0,
        0,
        false,
        end.map(any -> new Exit.Exited(0)),
        end);
  }

  @Test
  void reconnectWindowStartsAtTheEndTime() {
    ExecutionInfo ended = info(Optional.of(BEGIN.plusSeconds(60)));
    assertThat(ProcessRoutes.hasEndedSince(BEGIN.plusSeconds(60), ended)).isTrue();
    assertThat(ProcessRoutes.hasEndedSince(BEGIN.plusSeconds(61), ended)).isFalse();
    assertThat(ProcessRoutes.hasEndedSince(BEGIN, info(Optional.empty()))).isFalse();
  }

  @Test
  void timeoutMayHaveAFraction() {
    assertThat(ProcessRoutes.millis("60000")).contains(Duration.ofMinutes(1));
    assertThat(ProcessRoutes.millis("500.0")).contains(Duration.ofMillis(500));
    assertThat(ProcessRoutes.millis("0.5")).contains(Duration.ofMillis(1));
    for (String none : List.of("0", "0.0", "", "-1", "x", "1e3", "12345678901")) {
      assertThat(ProcessRoutes.millis(none)).as(none).isEmpty();
    }
  }
}
