package dev.isola.app.image;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.serve.HostTemplateImages;
import dev.isola.client.RecipeArchives;
import dev.isola.client.TemplateRecipe;
import dev.isola.document.RecipeDocument;
import dev.isola.engine.Engine;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Builds images without a server, with an engine in this process. The engine has a data folder of
 * its own, {@link DataFolder#builds} of the installation, with its ledger, its sandboxes and the
 * cache of steps, so that it does not touch the sandboxes of a server. Images are those of the
 * installation. One process builds at a time.
 */
final class LocalBuilds implements AutoCloseable {
  private static final InstantSource CLOCK = InstantSource.system();

  private final DataFolder installation;
  private final Deque<Runnable> closers = new ArrayDeque<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Thread owner = Thread.currentThread();
  private final Thread hook = new Thread(this::interrupt, "isola-end");
  private final TemplateService templates;

  private LocalBuilds(CommandContext context) {
    Config installed = context.configSources(null, List.of()).readOrThrow();
    installation = new DataFolder(installed.get(ConfigKeys.DATA));
    InstanceId _ = installation.instance(); // isola purge removes a folder only if it has an id
    DataFolder builds = installation.builds();
    try {
      lock(builds.createIfMissing().resolve("lock"), context.console());
      templates = open(context, builds).templates();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  static LocalBuilds open(CommandContext context) {
    LocalBuilds builds = new LocalBuilds(context);
    Runtime.getRuntime().addShutdownHook(builds.hook);
    return builds;
  }

  private void lock(Path file, Console console) {
    try {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      closers.push(() -> closeQuietly(channel));
      FileLock free = channel.tryLock();
      if (free == null) {
        console.printErr("waiting for another build on this machine");
        FileLock _ = channel.lock();
      }
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              file + " cannot be locked: " + e.getMessage(),
              "check the permissions of that folder")
          .exception(e);
    }
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // The lock ends with this process.
    }
  }

  private Engine open(CommandContext context, DataFolder builds) {
    Config config =
        context
            .configSources(null, List.of())
            .with("data", builds.path().toString())
            .with("shutdown", "drain")
            .with("allow_host_network", "true") // as for isola run
            .with("allow_networks", "none,filtered,bridge")
            .with("snapshots.place", builds.path().resolve("cache").toString())
            .readOrThrow()
            .withoutPool();
    Log log = new ConsoleLog(context.console());
    Ledger ledger = Ledgers.open(LedgerConfig.sqlite(builds.path().resolve("ledger")));
    closers.push(ledger::close);
    closers.push(builds.claim()::close);
    ProviderRegistry registry =
        ProviderRegistry.open(
            context.environment().factories(),
            config.providers(),
            name ->
                new ProviderContext(
                    builds.instance(), builds.providerFolder(name), installation.path(), CLOCK),
            CLOCK,
            log);
    closers.push(registry::close);
    HealthMonitor health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), CLOCK, log);
    closers.push(health::close);
    Engine engine =
        Engine.open(
            config,
            ledger,
            registry,
            health,
            Optional.of(new HostTemplateImages(new ImageStore(installation.path()))),
            Optional.empty(),
            CLOCK,
            log);
    closers.push(engine::close);
    engine.templates().removeUnused(config.get(ConfigKeys.RETENTION));
    return engine;
  }

  /**
   * Builds an image.
   *
   * @param folder that copy paths are relative to
   * @throws IOException if a file to copy cannot be read
   */
  Image build(
      String name,
      boolean replace,
      TemplateRecipe recipe,
      Path folder,
      BuildSettings settings,
      Consumer<BuildLogEntry> log)
      throws IOException {
    TemplateRecipe complete = RecipeArchives.store(recipe, folder, this::store);
    templates
        .imageBuilds()
        .build(name, replace, RecipeDocument.fromMap(complete.document()), settings, log);
    return new ImageStore(installation.path()).require(name);
  }

  private void store(RecipeArchives.Archive archive) throws IOException {
    if (!templates.hasArchive(archive.sha256())) {
      try (InputStream in = archive.open()) {
        templates.upload(archive.sha256(), in);
      }
    }
  }

  /** Cancels the build and waits until its sandbox is destroyed. */
  private void interrupt() {
    owner.interrupt();
    close();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    while (!closers.isEmpty()) {
      closers.pop().run();
    }
    try {
      boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The shutdown hook is running this method.
    }
  }

  /** Prints what the engine reports, for a user that asks for it. */
  private record ConsoleLog(Console console) implements Log {
    @Override
    public void info(String sentence) {
      ImageAddOptions.printProgress(console, sentence);
    }

    @Override
    public void warning(String sentence) {
      ImageAddOptions.printProgress(console, sentence);
    }
  }
}
