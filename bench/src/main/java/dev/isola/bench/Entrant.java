package dev.isola.bench;

import dev.isola.spi.Destroy;
import dev.isola.spi.Health;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.Trial;
import java.security.SecureRandom;
import java.time.Duration;

/** A provider with one sandbox, which all benchmarks use. */
record Entrant(String name, Sandbox sandbox, Provider provider, Trial trial)
    implements AutoCloseable {

  /**
   * Makes the sandbox.
   *
   * @throws IllegalStateException when the provider does not work here
   */
  static Entrant of(ProviderFactory factory) {
    Trial trial = Trial.of(factory);
    try {
      Provider provider = trial.open();
      try {
        if (provider.health() instanceof Health.Unhealthy unhealthy) {
          throw new IllegalStateException("unhealthy: " + unhealthy.reason());
        }
        SandboxSpec spec =
            SandboxSpec.builder(SandboxId.random(new SecureRandom()))
                .ttl(Duration.ofHours(2))
                .linger(Duration.ZERO)
                .build();
        return new Entrant(factory.name(), provider.create(spec), provider, trial);
      } catch (RuntimeException e) {
        provider.close();
        throw e;
      }
    } catch (RuntimeException e) {
      trial.close();
      throw e;
    }
  }

  @Override
  public void close() {
    try {
      provider.destroy(sandbox.id(), Destroy.FORCE);
      provider.close();
    } finally {
      trial.close();
    }
  }
}
