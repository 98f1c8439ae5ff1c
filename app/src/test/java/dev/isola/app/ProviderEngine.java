package dev.isola.app;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;

/**
 * An engine with real providers and its own data folder. Closing it destroys its sandboxes. If a
 * provider is not healthy here, the test is NOT RUN.
 */
final class ProviderEngine implements AutoCloseable {
  private static final InstantSource CLOCK = InstantSource.system();

  /** Concurrent runs of these tests on one machine must not destroy each other's sandboxes. */
  private static final InstanceId INSTANCE =
      new InstanceId(SandboxId.random(new SecureRandom()).value());

  private static final Log QUIET =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final HealthMonitor health;
  private final Engine engine;

  private ProviderEngine(
      Ledger ledger, ProviderRegistry registry, HealthMonitor health, Engine engine) {
    this.ledger = ledger;
    this.registry = registry;
    this.health = health;
    this.engine = engine;
  }

  /**
   * Opens an engine.
   *
   * @param docker address of the container engine
   */
  static ProviderEngine open(Path folder, String docker, List<String> names) throws IOException {
    List<ProviderFactory> factories =
        StreamSupport.stream(ServiceLoader.load(ProviderFactory.class).spliterator(), false)
            .filter(one -> names.contains(one.name()))
            .toList();
    for (String name : names) {
      Files.createDirectories(folder.resolve(name));
    }
    Config config =
        ConfigReader.read(
                new ConfigInput(
                    new MachineInfo(16_000, 4, folder),
                    Optional.empty(),
                    Map.of(),
                    names.contains("docker")
                        ? List.of(
                            new ConfigInput.FlagValue("--set", "providers.docker.host", docker))
                        : List.of(),
                    names))
            .orThrow();
    Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    ProviderRegistry registry =
        ProviderRegistry.open(
            factories,
            config.providers(),
            name -> new ProviderContext(INSTANCE, folder.resolve(name), folder, CLOCK),
            CLOCK,
            QUIET);
    for (String name : names) {
      if (!(registry.get(name).health() instanceof Health.Healthy)) {
        registry.close();
        ledger.close();
        Assumptions.abort("NOT RUN: " + name + " is not healthy here");
      }
    }
    HealthMonitor health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), CLOCK, QUIET);
    return new ProviderEngine(
        ledger,
        registry,
        health,
        Engine.open(
            config, ledger, registry, health, Optional.empty(), Optional.empty(), CLOCK, QUIET));
  }

  Engine engine() {
    return engine;
  }

  /** Returns whether a provider has the sandbox. */
  boolean atProvider(String provider, SandboxId id) {
    return registry.get(provider).inventory().stream().anyMatch(one -> one.id().equals(id));
  }

  Sandbox make(SandboxSpec.Builder spec, String provider) {
    return engine
        .creator()
        .create(
            SandboxRequest.of(
                    CreateRequest.of(spec.build(), provider)
                        .withTtl(Duration.ofMinutes(5))
                        .strict())
                .withFixedId())
        .sandbox();
  }

  /** Runs a script as root and returns its output. */
  static String output(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script).withUser("root"));
    if (!result.succeeded()) {
      throw new AssertionError(script + ": " + result);
    }
    return result.stdout().text();
  }

  @Override
  public void close() {
    try {
      engine.sandboxes().list(SandboxListFilter.ALL, "", 1000).entries().stream()
          .filter(one -> one.state() != SandboxState.DESTROYED)
          .forEach(one -> engine.sandboxes().destroy(one.id(), DestroyOptions.FORCE));
    } finally {
      engine.close();
      health.close();
      registry.close();
      ledger.close();
    }
  }
}
