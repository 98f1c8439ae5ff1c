package dev.isola.bench;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.registry.ProviderRegistry;
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
 * A provider behind an engine, as a server has it: a ledger on disk, a warm pool, and a folder and
 * an instance of its own, because an engine removes what it does not know.
 */
final class BenchEngine implements AutoCloseable {
  private static final Duration LIFETIME = Duration.ofHours(2);

  static final String SUFFIX = "-engine";
  private static final int POOL = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
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
    engine = Engine.open(config, ledger, registry, health, clock, log);
  }

  /**
   * @param folder where the ledger is; it is the caller's to remove
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

  /** Orders what the pool has, or with {@code cold} something that it has not. */
  CreateResult create(boolean cold) {
    SandboxSpec.Builder spec = SandboxSpec.builder(SandboxId.random(RANDOM)).linger(Duration.ZERO);
    if (cold) {
      spec.env("COLD", "1");
    }
    return engine.create(
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
    engine.destroy(delivery.view().id(), DestroyOptions.FORCE);
  }

  /**
   * Returns when the pool is full.
   *
   * @throws IOException when it does not become full
   */
  void awaitPool() throws IOException, InterruptedException {
    SandboxListFilter ready = SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (engine.list(ready, "", POOL).entries().size() < POOL) {
      if (System.nanoTime() > end) {
        throw new IOException("the warm pool does not become full: " + log.last);
      }
      Thread.sleep(1);
    }
  }

  /** Looks up the sandbox that commands share. */
  Sandbox sandbox() {
    return engine.sandbox(shared());
  }

  /** Returns what a server works with. */
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

  /** Nobody reads along while it is measured; the last warning is told when it fails. */
  private static final class LastWarning implements Log {
    volatile String last = "it says nothing";

    @Override
    public void info(String sentence) {
      // A miss is what is measured, too.
    }

    @Override
    public void warning(String sentence) {
      last = sentence;
    }
  }
}
