package dev.isola.engine;

import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/** An engine on the test provider that can be restarted. */
final class EngineFixture implements AutoCloseable {
  static {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
  }

  final FakeClock clock = new FakeClock();
  final FakeLog log = new FakeLog();
  private final Path folder;
  private final LedgerConfig ledgerConfig;
  private final List<ProviderFactory> factories;
  private final String yaml;
  private final Optional<ServerIdentity> identity;
  Ledger ledger;
  ProviderRegistry registry;
  Engine engine;
  HealthMonitor health;

  /** Creates an engine with a ledger in its folder. */
  EngineFixture(Path folder, String yaml, ProviderFactory... more) throws IOException {
    this(folder, LedgerConfig.sqlite(folder.resolve("ledger")), yaml, more);
  }

  EngineFixture(Path folder, LedgerConfig ledgerConfig, String yaml, ProviderFactory... more)
      throws IOException {
    this(folder, ledgerConfig, Optional.empty(), yaml, more);
  }

  /**
   * Creates an engine.
   *
   * @param identity the server, if it shares the ledger with others
   */
  EngineFixture(
      Path folder,
      LedgerConfig ledgerConfig,
      Optional<ServerIdentity> identity,
      String yaml,
      ProviderFactory... more)
      throws IOException {
    this.identity = identity;
    this.folder = folder;
    this.ledgerConfig = ledgerConfig;
    this.yaml = yaml;
    factories = new ArrayList<>(List.of(new TestProviderFactory()));
    factories.addAll(List.of(more));
    ledger = Ledgers.open(ledgerConfig);
    open();
  }

  private void open() throws IOException {
    Config config = config();
    registry =
        ProviderRegistry.open(
            factories,
            config.providers(),
            name -> new ProviderContext(instance(), folder(name), clock),
            clock,
            log);
    health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), clock, log);
    engine = Engine.open(config, ledger, registry, health, Optional.empty(), identity, clock, log);
  }

  /** Returns an instance id that is unique on this machine and stable across restarts. */
  InstanceId instance() {
    return new InstanceId("h" + Integer.toHexString(folder.toAbsolutePath().hashCode()));
  }

  private Path folder(String name) {
    try {
      return Files.createDirectories(folder.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Config config() throws IOException {
    List<String> installed = new ArrayList<>(List.of("gvisor", "bubblewrap"));
    factories.forEach(factory -> installed.add(factory.name()));
    Path file = Files.writeString(folder.resolve("isola.yaml"), yaml);
    List<FlagValue> flags = new ArrayList<>();
    flags.add(new FlagValue("--set", "floor", "process"));
    flags.add(new FlagValue("--set", "expiry.interval", "100ms"));
    if (!yaml.contains("reconcile")) {
      // Sandboxes that a test records are lost at the next comparison; on a busy machine that would
      // be during the test.
      flags.add(new FlagValue("--set", "reconcile.interval", "1h"));
    }
    return ConfigReader.read(
            new ConfigInput(
                new MachineInfo(16_000, 4, folder), Optional.of(file), Map.of(), flags, installed))
        .orThrow();
  }

  /** Stops the server, whose sandboxes keep running, and starts another. */
  void restart(Runnable between) throws IOException {
    stop();
    ledger.close();
    ledger = Ledgers.open(ledgerConfig);
    between.run();
    open();
  }

  private void stop() {
    engine.close();
    health.close();
    registry.close();
  }

  /** Destroys all sandboxes, whose real processes would outlive the test. */
  private void destroySandboxes() {
    for (Provider provider : registry.providers().values()) {
      try {
        provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
      } catch (SandboxException e) {
        System.err.println("a fake that fails as its test says, or a leak: " + e.getMessage());
      }
    }
  }

  @Override
  public void close() {
    engine.close();
    health.close();
    destroySandboxes();
    registry.close();
    ledger.close();
  }
}
