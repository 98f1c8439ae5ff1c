package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import dev.isola.testing.SandboxStress;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * A thousand sandboxes, one in five killed at a random point; then no leaks. {@code ./check} runs a
 * quarter of them, {@code ./check --long} all.
 */
@Tag("all")
final class CreateDestroySoakTest {
  private static final int ROUNDS = Boolean.getBoolean("isola.long") ? 1_000 : 100;

  @Test
  void createAndDestroyLeakNothing(TestReporter reporter) throws InterruptedException {
    try (TemporaryInstallation installation =
            TemporaryInstallation.of(new BubblewrapProviderFactory());
        Provider provider = installation.open()) {
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        Assumptions.abort("NOT RUN: " + unhealthy.reason());
      }
      new SandboxStress(installation)
          .run(provider, 4, 1); // so that lazily opened files of the JVM do not count as leaks
      LeakDetector leaks = new LeakDetector(installation.instance(), installation.data());
      ResourceScan before = leaks.scan();
      SandboxStress.StressSummary summary =
          new SandboxStress(installation).run(provider, ROUNDS, 42);
      reporter.publishEntry("tally", summary.toString());
      assertThat(summary.answered()).isGreaterThan(ROUNDS * 7 / 10);
      assertThat(summary.killed()).isGreaterThan(ROUNDS / 10);
      assertThat(summary.refused()).isPositive();
      assertThat(provider.inventory()).isEmpty();
      assertThat(leaks.leakedSince(before)).isEmpty();
    }
  }
}
