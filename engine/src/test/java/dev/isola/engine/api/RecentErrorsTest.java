package dev.isola.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** S5: the latest failures of sandboxes are bounded and printable. */
class RecentErrorsTest {
  private final RecentErrors errors = new RecentErrors(InstantSource.fixed(Instant.EPOCH));

  private void record(String id, String message) {
    errors.record(new SandboxId(id), "exec", ErrorCode.EXEC_TIMEOUT, message);
  }

  @Test
  void oldestFailureOfASandboxIsDropped() {
    for (int i = 0; i < RecentErrors.MAX_PER_SANDBOX + 5; i++) {
      record("a", "failure " + i);
    }
    record("b", "other");
    assertThat(errors.of(new SandboxId("a")))
        .hasSize(RecentErrors.MAX_PER_SANDBOX)
        .extracting(RecentError::message)
        .startsWith("failure 5")
        .endsWith("failure " + (RecentErrors.MAX_PER_SANDBOX + 4));
    assertThat(errors.of(new SandboxId("c"))).isEmpty();
  }

  @Test
  void sandboxThatFailedLongestAgoIsDropped() {
    for (int i = 0; i < RecentErrors.MAX_SANDBOXES; i++) {
      record("s" + i, "failure");
    }
    record("s0", "failure");
    record("last", "failure");
    assertThat(errors.of(new SandboxId("s0"))).hasSize(2);
    assertThat(errors.of(new SandboxId("s1"))).isEmpty();
    assertThat(errors.of(new SandboxId("s2"))).hasSize(1);
  }

  @Test
  void messageIsShortAndPrintable() {
    record("a", "\u001b[2J\n\u0000\ud800" + "x".repeat(10_000) + "\ud83d\ude00");
    String message = errors.of(new SandboxId("a")).getFirst().message();
    assertThat(message).hasSize(RecentErrors.MAX_MESSAGE).startsWith("?[2J???xxx");
  }
}
