package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Controls: the harness detects planted bugs. */
@Tag("all")
class PlantedBugsTest {
  private static final int UNTIL_FOUND = 15;

  @Test
  void acknowledgeBeforeCommitIsDetected() throws InterruptedException {
    assertCaught(
        PlantedBug.ACKNOWLEDGED_EARLY,
        line -> line.contains("was acknowledged and is DESTROYED") || line.contains("is ERROR"));
  }

  @Test
  void forgottenIdempotencyKeysAreDetected() throws InterruptedException {
    assertCaught(PlantedBug.FORGOTTEN_KEYS, line -> line.startsWith("key "));
  }

  @Test
  void inactiveReconcilerIsDetected() throws InterruptedException {
    assertCaught(PlantedBug.BLIND, line -> line.contains("was left half done"));
  }

  @Test
  void recreatedSandboxIsDetected() throws InterruptedException {
    assertCaught(PlantedBug.RESURRECTED, line -> line.startsWith("leaked: process"));
  }

  private void assertCaught(PlantedBug planted, Predicate<String> wanted)
      throws InterruptedException {
    try (CrashHarness harness =
        new CrashHarness(
            EngineCrashContract.seed(), planted, List.of(), BubblewrapAvailability.healthy())) {
      CrashHarness.Outcome outcome = harness.run(UNTIL_FOUND, wanted);
      List<String> left = harness.putAway();
      if (!left.isEmpty()) { // a kill in the middle of a creation that no ledger knows of
        left = harness.putAway();
      }
      assertThat(outcome.broken()).as("the harness detects %s", planted).isNotEmpty();
      assertThat(left).as("its remains are removed").isEmpty();
    }
  }
}
