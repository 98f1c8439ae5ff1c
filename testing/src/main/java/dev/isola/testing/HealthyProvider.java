package dev.isola.testing;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderFactory;
import org.junit.jupiter.api.Assumptions;

/** Finds out whether a provider works on this machine. */
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

  /** Returns whether the provider works on this machine, be it degraded. */
  public static boolean isUsable(ProviderFactory factory) {
    try (TemporaryInstallation trial = TemporaryInstallation.of(factory);
        Provider provider = trial.open()) {
      return !(provider.health() instanceof Health.Unhealthy);
    }
  }
}
