package dev.isola.engine;

import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogPage;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.template.StoreImages;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** An engine on bubblewrap with an image store, which can be restarted. */
final class TemplateFixture implements AutoCloseable {
  static final String PROVIDER = "bubblewrap";
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final InstantSource CLOCK = InstantSource.system();

  final FakeLog log = new FakeLog();
  final StoreImages images;
  private final Path folder;
  Ledger ledger;
  Engine engine;
  private ProviderRegistry registry;
  private HealthMonitor health;

  TemplateFixture(Path folder) throws IOException {
    this.folder = folder;
    images =
        StoreImages.in(folder)
            .orElseGet(() -> Assumptions.abort("NOT RUN: busybox is not installed"))
            .withSmall(folder.resolve("scratch"));
    open();
    String why = registry.get(PROVIDER).health().toString();
    if (!registry.get(PROVIDER).health().healthy()) {
      close();
      Assumptions.abort("NOT RUN: bubblewrap does not work here: " + why);
    }
  }

  private void open() {
    Config config =
        ConfigReader.read(
                new ConfigInput(
                    new MachineInfo(16_000, 4, folder),
                    Optional.empty(),
                    Map.of(),
                    List.of(
                        new FlagValue("--set", "floor", "process"),
                        new FlagValue("--set", "provider", PROVIDER)),
                    List.of(PROVIDER)))
            .orThrow();
    ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    registry =
        ProviderRegistry.open(
            List.of(new BubblewrapProviderFactory()),
            config.providers(),
            name -> new ProviderContext(new InstanceId("templates"), made(name), folder, CLOCK),
            CLOCK,
            log);
    health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), CLOCK, log);
    engine =
        Engine.open(
            config, ledger, registry, health, Optional.of(images), Optional.empty(), CLOCK, log);
  }

  private Path made(String name) {
    try {
      return Files.createDirectories(folder.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops the server and starts another. */
  void restart(Runnable between) {
    stop();
    ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    between.run();
    ledger.close();
    open();
  }

  private void stop() {
    engine.close();
    health.close();
    registry.close();
    ledger.close();
  }

  /** Waits for the end of a build and returns it. */
  BuildView ended(BuildView build) {
    long until = System.nanoTime() + TIMEOUT.toNanos();
    long lines = 0;
    while (System.nanoTime() < until) {
      BuildLogPage page = engine.templates().log(build.template(), build.id(), lines, 1000);
      lines = page.next();
      if (page.last()) {
        return engine.templates().build(build.template(), build.id());
      }
      engine.templates().awaitLog(build.template(), build.id(), lines, TIMEOUT);
    }
    throw new AssertionError("the build did not end: " + messages(build));
  }

  /** Waits until a line of the build log contains a text. */
  void awaitLine(BuildView build, String text) {
    while (messages(build).stream().noneMatch(line -> line.contains(text))) {
      int lines = messages(build).size();
      if (!engine.templates().awaitLog(build.template(), build.id(), lines, TIMEOUT)) {
        throw new AssertionError("no line with " + text + ": " + messages(build));
      }
    }
  }

  /** Returns the first lines of a build log. */
  List<String> messages(BuildView build) {
    return engine.templates().log(build.template(), build.id(), 0, 1000).lines().stream()
        .map(BuildLogEntry::message)
        .toList();
  }

  /** Returns the inventory of the provider. */
  List<String> sandboxes() {
    List<String> all = new ArrayList<>();
    registry.get(PROVIDER).inventory().forEach(one -> all.add(one.id().value()));
    return all;
  }

  @Override
  public void close() {
    engine.close();
    health.close();
    Provider provider = registry.get(PROVIDER);
    provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
    registry.close();
    ledger.close();
  }
}
