package dev.isola.bench;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An engine with one provider, configured as in a server: a ledger on disk, a warm pool, and a data
 * folder and an instance of its own, because an engine removes sandboxes that it does not know.
 */
final class BenchEngine implements AutoCloseable {
  private static final Duration LIFETIME = Duration.ofHours(2);

  static final String SUFFIX = "-engine";
  private static final int POOL = 4;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final TemporaryInstallation trial;
  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final HealthMonitor health;
  private final Engine engine;
  private final LastWarning log;
  private @Nullable SandboxId shared;

  private BenchEngine(TemporaryInstallation trial, Ledger ledger, Config config, LastWarning log) {
    this.trial = trial;
    this.ledger = ledger;
    this.log = log;
    InstantSource clock = InstantSource.system();
    registry =
        ProviderRegistry.open(
            List.of(trial.factory()),
            config.providers(),
            name -> new ProviderContext(trial.instance(), trial.data(), clock),
            clock,
            log);
    health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), clock, log);
    engine =
        Engine.open(
            config, ledger, registry, health, Optional.empty(), Optional.empty(), clock, log);
  }

  /**
   * @param folder the folder of the ledger, which the caller removes
   */
  static BenchEngine open(ProviderFactory factory, Path folder) {
    TemporaryInstallation trial = TemporaryInstallation.of(factory);
    try {
      Config config = config(factory.name(), folder);
      Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
      try {
        return new BenchEngine(trial, ledger, config, new LastWarning());
      } catch (RuntimeException e) {
        ledger.close();
        throw e;
      }
    } catch (IOException e) {
      trial.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      trial.close();
      throw e;
    }
  }

  private static Config config(String provider, Path folder) throws IOException {
    Files.createDirectories(folder);
    Path file =
        Files.writeString(
            folder.resolve("isola.yaml"),
            """
            floor: process
            allow_process: true
            shutdown: drain
            admission: {memory_mb: 1000000, cpu: 1000}
            pool:
              - provider: %s
                size: %d
                spec: {lingerSeconds: 0}
            """
                .formatted(provider, POOL));
    return ConfigReader.read(
            new ConfigInput(
                MachineInfo.detect(folder),
                Optional.of(file),
                Map.of(),
                List.<FlagValue>of(),
                List.of(provider)))
        .orThrow();
  }

  String name() {
    return trial.factory().name() + SUFFIX;
  }

  /** Creates a sandbox that the pool has ready or, if {@code cold}, one that it has not. */
  CreateResult create(boolean cold) {
    SandboxSpec.Builder spec = SandboxSpec.builder(SandboxId.random(RANDOM)).linger(Duration.ZERO);
    if (cold) {
      spec.env("COLD", "1");
    }
    return engine
        .creator()
        .create(
            SandboxRequest.of(
                CreateRequest.of(spec.build(), trial.factory().name()).withTtl(LIFETIME)));
  }

  Engine engine() {
    return engine;
  }

  String provider() {
    return trial.factory().name();
  }

  void destroy(CreateResult delivery) {
    engine.sandboxes().destroy(delivery.view().id(), DestroyOptions.FORCE);
  }

  /**
   * Returns when the pool is full.
   *
   * @throws IOException if the pool does not fill in time
   */
  void awaitPool() throws IOException, InterruptedException {
    SandboxListFilter ready = SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING);
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (engine.sandboxes().list(ready, "", POOL).entries().size() < POOL) {
      if (System.nanoTime() > end) {
        throw new IOException("the warm pool did not fill in time: " + log.last);
      }
      Thread.sleep(1);
    }
  }

  /** Looks up the shared sandbox. */
  Sandbox sandbox() {
    return engine.sandboxes().get(shared());
  }

  /** Returns the parts that a server is built from. */
  ServerContext.Components parts() {
    return new ServerContext.Components(engine, registry, health);
  }

  Ledger ledger() {
    return ledger;
  }

  synchronized SandboxId shared() {
    SandboxId known = shared;
    if (known == null) {
      known = create(true).view().id();
      shared = known;
    }
    return known;
  }

  @Override
  public void close() {
    try {
      engine.close();
      health.close();
      registry.close();
      ledger.close();
    } finally {
      trial.close();
    }
  }

  /**
   * Discards log messages during the measurement, except for the last warning, which explains a
   * failure.
   */
  private static final class LastWarning implements Log {
    volatile String last = "no warning was logged";

    @Override
    public void info(String sentence) {
      // Missing the pool is part of the measurement.
    }

    @Override
    public void warning(String sentence) {
      last = sentence;
    }
  }
}
