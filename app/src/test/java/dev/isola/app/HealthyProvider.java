package dev.isola.app;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderFactory;
import org.junit.jupiter.api.Assumptions;

/** Skips tests whose provider does not work on this machine. */
public final class HealthyProvider {
  private HealthyProvider() {}

  /**
   * Aborts the test if the provider is unhealthy. Whatever a test calls afterwards has to work, so
   * no test needs to treat a failed create as a missing program.
   */
  public static void assume(ProviderFactory factory) {
    try (TemporaryInstallation trial = TemporaryInstallation.of(factory);
        Provider provider = trial.open()) {
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        Assumptions.abort("NOT RUN: " + factory.name() + " is unhealthy: " + unhealthy.reason());
      }
    }
  }
}
