package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The controls: an engine with a bug is found out by the harness that finds nothing without. */
class PlantedBugsTest {
  private static final int UNTIL_FOUND = 15;

  @Test
  void acknowledgingBeforeWritingIsCaught() throws InterruptedException {
    assertCaught(
        PlantedBug.ACKNOWLEDGED_EARLY,
        line -> line.contains("was acknowledged and is DESTROYED") || line.contains("is ERROR"));
  }

  @Test
  void forgottenKeysAreCaught() throws InterruptedException {
    assertCaught(PlantedBug.FORGOTTEN_KEYS, line -> line.startsWith("key "));
  }

  @Test
  void aReconcilerThatDoesNothingIsCaught() throws InterruptedException {
    assertCaught(PlantedBug.BLIND, line -> line.contains("was left half done"));
  }

  @Test
  void aResurrectedSandboxIsCaught() throws InterruptedException {
    assertCaught(PlantedBug.RESURRECTED, line -> line.startsWith("leaked: process"));
  }

  private void assertCaught(PlantedBug planted, Predicate<String> wanted)
      throws InterruptedException {
    try (CrashHarness harness =
        new CrashHarness(
            EngineCrashContract.seed(), planted, List.of(), BubblewrapAvailability.healthy())) {
      CrashHarness.Outcome outcome = harness.run(UNTIL_FOUND, wanted);
      List<String> left = harness.putAway();
      assertThat(outcome.broken()).as("the harness finds %s", planted).isNotEmpty();
      assertThat(left).as("what it left is put away").isEmpty();
    }
  }
}
