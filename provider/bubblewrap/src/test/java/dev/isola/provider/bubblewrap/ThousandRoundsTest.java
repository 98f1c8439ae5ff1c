package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.Trial;
import dev.isola.conformance.census.Census;
import dev.isola.conformance.census.LeakCensus;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import dev.isola.testing.Rounds;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * A thousand sandboxes, one in five killed somewhere; then a census equal to the one before. {@code
 * ./check} makes a quarter of them, {@code ./check --long} all.
 */
final class ThousandRoundsTest {
  private static final int ROUNDS = Boolean.getBoolean("isola.long") ? 1_000 : 250;

  @Test
  void leaveNothing(TestReporter reporter) throws InterruptedException {
    try (Trial trial = Trial.of(new BubblewrapProviderFactory());
        Provider provider = trial.open()) {
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        Assumptions.abort("NOT RUN: " + unhealthy.reason());
      }
      new Rounds(trial).run(provider, 4, 1); // what the JVM keeps from first use is there before
      LeakCensus census = new LeakCensus(trial.instance(), trial.data());
      Census before = census.take();
      Rounds.Tally tally = new Rounds(trial).run(provider, ROUNDS, 42);
      reporter.publishEntry("tally", tally.toString());
      assertThat(tally.answered()).isGreaterThan(ROUNDS * 8 / 10);
      assertThat(tally.killed()).isGreaterThan(ROUNDS / 10);
      assertThat(tally.refused()).isPositive();
      assertThat(provider.inventory()).isEmpty();
      assertThat(census.leakedSince(before)).isEmpty();
    }
  }
}
