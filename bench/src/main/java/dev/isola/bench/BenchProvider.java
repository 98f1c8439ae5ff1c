package dev.isola.bench;

import dev.isola.app.cli.DataFolder;
import dev.isola.conformance.TemporaryInstallation;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.security.SecureRandom;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A provider with a data folder of its own. */
final class BenchProvider implements AutoCloseable {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final TemporaryInstallation trial;
  private final Provider provider;
  private @Nullable Sandbox sandbox;

  private BenchProvider(TemporaryInstallation trial, Provider provider) {
    this.trial = trial;
    this.provider = provider;
  }

  /**
   * Opens the provider.
   *
   * @throws IllegalStateException if the provider does not work on this machine
   */
  static BenchProvider of(ProviderFactory factory) {
    return of(factory, ProviderConfig.EMPTY);
  }

  /** Opens the provider with settings. */
  static BenchProvider of(ProviderFactory factory, ProviderConfig config) {
    TemporaryInstallation trial =
        TemporaryInstallation.of(factory, config)
            .sharing(DataFolder.path(null, System.getenv(), System.getProperty("user.name")));
    try {
      Provider provider = trial.open();
      try {
        if (provider.health() instanceof Health.Unhealthy unhealthy) {
          throw new IllegalStateException("unhealthy: " + unhealthy.reason());
        }
        return new BenchProvider(trial, provider);
      } catch (RuntimeException e) {
        provider.close();
        throw e;
      }
    } catch (RuntimeException e) {
      trial.close();
      throw e;
    }
  }

  String name() {
    return trial.factory().name();
  }

  TemporaryInstallation trial() {
    return trial;
  }

  Provider provider() {
    return provider;
  }

  /** Returns a spec for another sandbox, which ends with this process. */
  SandboxSpec spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM))
        .deadline(Duration.ofHours(2))
        .linger(Duration.ZERO)
        .build();
  }

  /** Returns the shared sandbox of the benchmarks that do not create their own. */
  synchronized Sandbox sandbox() {
    Sandbox known = sandbox;
    if (known == null) {
      known = provider.create(spec());
      sandbox = known;
    }
    return known;
  }

  @Override
  public synchronized void close() {
    try {
      if (sandbox != null) {
        provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      }
      provider.close();
    } finally {
      trial.close();
    }
  }
}
