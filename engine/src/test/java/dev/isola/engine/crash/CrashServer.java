package dev.isola.engine.crash;

import dev.isola.engine.Engine;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.template.StoreImages;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.DiskReserve;
import dev.isola.store.Ledger;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An engine in real time, on providers whose sandboxes outlive it and on one that always fails, so
 * that fallback happens.
 */
final class CrashServer implements AutoCloseable {
  static final String BROKEN = "gvisor";
  private static final InstantSource CLOCK = InstantSource.system();

  final Ledger ledger;
  final ProviderRegistry registry;
  final HealthMonitor health;
  final Optional<StoreImages> images;
  final Engine engine;

  private CrashServer(
      Ledger ledger,
      ProviderRegistry registry,
      HealthMonitor health,
      Optional<StoreImages> images,
      Engine engine) {
    this.images = images;
    this.ledger = ledger;
    this.registry = registry;
    this.health = health;
    this.engine = engine;
  }

  /** Runs after the providers were opened and before the engine is. */
  record StoppedEngine(Ledger ledger, ProviderRegistry registry) {}

  static CrashServer open(
      CrashSite site, String yaml, PlantedBug planted, Log log, Consumer<StoppedEngine> between) {
    return open(site, yaml, planted, log, between, DiskReserve.NONE);
  }

  static CrashServer open(
      CrashSite site,
      String yaml,
      PlantedBug planted,
      Log log,
      Consumer<StoppedEngine> between,
      DiskReserve reserve) {
    Config config = config(site, yaml);
    Ledger ledger = planted.ledger(Ledgers.open(site.ledgerConfig(), reserve));
    ProviderRegistry registry =
        ProviderRegistry.open(
            List.<ProviderFactory>of(
                planted.factory(new SubprocessProviderFactory()),
                planted.factory(new BubblewrapProviderFactory()),
                new FakeProvider(BROKEN).failing(ErrorCode.SPAWN_FAILED, "it always fails")),
            config.providers(),
            name -> new ProviderContext(site.instance(), folder(site, name), site.folder(), CLOCK),
            CLOCK,
            log);
    between.accept(new StoppedEngine(ledger, registry));
    HealthMonitor health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), CLOCK, log);
    Optional<StoreImages> images = images(site);
    return new CrashServer(
        ledger,
        registry,
        health,
        images,
        Engine.open(
            config,
            ledger,
            registry,
            health,
            images.map(TemplateImages.class::cast),
            Optional.empty(),
            CLOCK,
            log));
  }

  /**
   * Returns the image store of the site with a busybox image; empty if busybox is not installed.
   */
  private static Optional<StoreImages> images(CrashSite site) {
    Optional<StoreImages> images = StoreImages.in(site.folder());
    try {
      if (images.isPresent()) {
        images.get().withSmall(site.folder().resolve("scratch"));
      }
      return images;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path folder(CrashSite site, String provider) {
    try {
      return Files.createDirectories(site.data().resolve(provider));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Config config(CrashSite site, String yaml) {
    try {
      Path file = Files.writeString(site.folder().resolve("isola.yaml"), yaml);
      return ConfigReader.read(
              new ConfigInput(
                  new MachineInfo(1_000_000, 1_000, site.folder()),
                  Optional.of(file),
                  Map.of(),
                  List.of(
                      new FlagValue("--set", "floor", "process"),
                      new FlagValue("--set", "allow_process", "true"),
                      new FlagValue("--set", "expiry.interval", "100ms"),
                      new FlagValue("--set", "reconcile.interval", "1s")),
                  List.of("subprocess", "bubblewrap", BROKEN)))
          .orThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops the server; its configuration determines what happens to the sandboxes. */
  @Override
  public void close() {
    engine.close();
    health.close();
    registry.close();
    ledger.close();
  }
}
