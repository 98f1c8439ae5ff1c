package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.Host;
import dev.isola.app.cli.VersionCommand;
import dev.isola.compat.e2b.E2bApi;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.engine.Engine;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.Keys;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.ledger.LedgerSettings;
import dev.isola.engine.registry.Registry;
import dev.isola.host.image.ImageStore;
import dev.isola.server.IsolaServer;
import dev.isola.server.api.Api;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Gate;
import dev.isola.server.auth.MachineNames;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.store.Ledger;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A server with everything it needs. The ledger comes first, because it says who may come in; then
 * the port; then what takes its time. It ends in the reverse order.
 */
public final class RunningServer implements AutoCloseable {
  /** How long requests under way may take when the server ends. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final ServeLog log;
  private final Deque<Runnable> ends = new ArrayDeque<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Thread hook = new Thread(this::closeOnSignal, "isola-end");

  private RunningServer(ServeLog log) {
    this.log = log;
  }

  /** Starts; when this returns, sandboxes can be made. */
  public static RunningServer open(Host host, Config config, InstantSource clock, ServeLog log) {
    RunningServer running = new RunningServer(log);
    Runtime.getRuntime().addShutdownHook(running.hook);
    try {
      running.start(host, config, clock);
      return running;
    } catch (RuntimeException e) {
      running.close();
      throw e;
    }
  }

  private void start(Host host, Config config, InstantSource clock) {
    DataFolder data = new DataFolder(config.get(Keys.DATA));
    Ledger ledger = Ledgers.open(LedgerPlace.of(config, data));
    ends.push(ledger::close);
    ApiKeys keys = keys(host, config, ledger, clock, log);
    MachineNames names = MachineNames.of(config.get(Keys.SERVER_HOST));
    Serving serving = new Serving();
    ImageStore store = new ImageStore(data.path());
    Images images = new HostImages(store);
    IsolaServer server =
        IsolaServer.open(
            IsolaServer.Address.of(
                config.get(Keys.SERVER_HOST), config.get(Keys.SERVER_PORT).intValue()),
            Api.routes(
                serving,
                keys,
                config.get(Keys.PROVIDER),
                VersionCommand.version(),
                () -> SetupSteps.here(host, data),
                images,
                List.of(
                    new E2bApi(
                        serving,
                        keys,
                        new E2bSettings(
                            config.get(Keys.PROVIDER),
                            config.get(Keys.E2B_NETWORK),
                            Optional.of(new LedgerSettings(ledger))),
                        images))),
            new Gate(config.get(Keys.SERVER_DOMAINS), names),
            keys,
            log,
            ServeOptions.of(config, data, serving, clock, log, ends),
            log);
    print(host, StartReport.listening(server, names, config.get(Keys.SERVER_DOMAINS)) + "\n");
    try {
      Registry registry =
          Registry.open(
              host.factories(),
              config.providers(),
              name -> new ProviderContext(data.instance(), data.folderOf(name), data.path(), clock),
              clock,
              log);
      ends.push(registry::close);
      HealthMonitor health =
          HealthMonitor.start(registry.providers(), registry.absent(), config.rhythm(), clock, log);
      ends.push(health::close);
      Engine engine =
          Engine.open(
              config,
              ledger,
              registry,
              health,
              Optional.of(new HostTemplateImages(store)),
              clock,
              log);
      ends.push(engine::close);
      serving.ready(new Serving.Parts(engine, registry, health));
      StartReport report = new StartReport(config, engine.readiness(), log);
      Thread.ofVirtual()
          .name("isola-start-report")
          .start(() -> report.write(health.settled(any -> engine.readiness().isReady())));
    } finally {
      ends.push(() -> server.close(PATIENCE));
    }
  }

  /**
   * Where nobody else can come in, the first key is made and shown; elsewhere there must be one.
   */
  private static ApiKeys keys(
      Host host, Config config, Ledger ledger, InstantSource clock, ServeLog log) {
    Optional<String> given =
        Optional.ofNullable(host.env().get("ISOLA_API_KEY")).filter(key -> !key.isEmpty());
    ApiKeys keys = ApiKeys.open(new LedgerSettings(ledger), given, clock);
    if (given.filter(key -> !key.startsWith(ApiKeys.PREFIX)).isPresent()) {
      log.warning(
          "ISOLA_API_KEY does not begin with "
              + ApiKeys.PREFIX
              + ": a client that sends it to a public preview gives it to the sandbox; choose one"
              + " that does");
    }
    if (keys.isEmpty() && Gate.isLoopback(config.get(Keys.SERVER_HOST))) {
      ErrorReport.line(
          host, "the first key, shown this once: " + keys.make("first", Scope.ADMIN).secret());
    }
    return keys;
  }

  private static void print(Host host, String text) {
    try {
      host.out().write(text.getBytes(StandardCharsets.UTF_8));
      host.out().flush();
    } catch (IOException e) {
      // Nobody reads it; whoever set the port knows it.
    }
  }

  /** Waits until somebody ends the server. */
  void await() {
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeOnSignal() {
    log.info("ending");
    close();
  }

  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      while (!ends.isEmpty()) {
        try {
          ends.pop().run();
        } catch (SandboxException e) {
          log.warning("ending goes on, though " + e.fault().what());
        }
      }
      ended.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // It is the hook that runs.
      }
    }
  }
}
