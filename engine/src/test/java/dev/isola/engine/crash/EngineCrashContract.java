package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.store.Failpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Kills an engine under load, at failpoints and at random times. {@code ./check} does it a few
 * times, {@code ./check --long} 300 times and requires that every failpoint is hit. {@code
 * -Disola.crash.seed} repeats a run.
 */
abstract class EngineCrashContract {
  private static final int CYCLES = Integer.getInteger("isola.crash.cycles", 6);
  private static final int ENOUGH_FOR_ALL = 3 * Failpoint.values().length;

  /** Returns the ledger of one run, as in {@link CrashSite}. */
  abstract List<String> ledger();

  static long seed() {
    return Long.getLong("isola.crash.seed", System.nanoTime());
  }

  @Test
  void crashesLoseNothingAcknowledgedAndLeakNothing() throws InterruptedException, IOException {
    long seed = seed();
    boolean pausing = BubblewrapAvailability.healthy();
    try (CrashHarness harness = new CrashHarness(seed, PlantedBug.NOTHING, ledger(), pausing)) {
      CrashHarness.Outcome outcome = harness.run(CYCLES);
      System.out.println(
          "crash harness: seed "
              + seed
              + ", "
              + outcome.cycles()
              + " kills, "
              + outcome.killed()
              + " of them at any moment, failpoints "
              + outcome.hits());
      List<String> left = outcome.broken().isEmpty() ? List.of() : harness.putAway();
      assertThat(outcome.broken()).as(harness.log(40)).isEmpty();
      assertThat(left).isEmpty();
      assertThat(outcome.cycles()).isEqualTo(CYCLES);
      assertThat(outcome.hits()).as("failpoints are reached").isNotEmpty();
      if (CYCLES >= ENOUGH_FOR_ALL) {
        List<Failpoint> never = new ArrayList<>(List.of(Failpoint.values()));
        never.removeAll(outcome.hits().keySet());
        if (!pausing && CrashHarness.WITH_BUBBLEWRAP.containsAll(never)) {
          abort("NOT RUN: there is no bubblewrap here, so these were not reached: " + never);
        }
        assertThat(never).as("failpoints that were never hit").isEmpty();
      }
    }
  }
}
