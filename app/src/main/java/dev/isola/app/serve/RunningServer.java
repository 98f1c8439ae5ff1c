package dev.isola.app.serve;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.VersionCommand;
import dev.isola.compat.backend.BackendApi;
import dev.isola.compat.e2b.E2bApi;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.mcp.HostingLimits;
import dev.isola.compat.mcp.McpApi;
import dev.isola.dashboard.DashboardApi;
import dev.isola.engine.Engine;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.ledger.LedgerSettingsStore;
import dev.isola.host.image.ImageStore;
import dev.isola.server.IsolaServer;
import dev.isola.server.ListeningPort;
import dev.isola.server.api.Api;
import dev.isola.server.audit.AuditReader;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.MachineNames;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.oidc.OidcSignIn;
import dev.isola.server.peer.PeerServers;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.store.DiskReserve;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A running server with all its parts. Opens the port first, so that a process that cannot have it
 * changes nothing, then the ledger, which holds the API keys, then the slower parts. Closes them in
 * reverse order.
 */
public final class RunningServer implements AutoCloseable {
  /** Time that requests in progress get to complete when the server stops. */
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

  /** About a thousand records, which are written on a full disk, too. */
  private static final long AUDIT_BYTES = 512 << 10;

  private final ServerLog log;
  private final Deque<Runnable> closers = new ArrayDeque<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicBoolean closing = new AtomicBoolean();
  private @Nullable IsolaServer http;
  private final Thread hook = new Thread(this::closeOnSignal, "isola-end");

  private RunningServer(ServerLog log) {
    this.log = log;
  }

  /** Starts a server. When this method returns, sandboxes can be created. */
  public static RunningServer open(
      CliEnvironment environment, Config config, InstantSource clock, ServerLog log) {
    RunningServer running = new RunningServer(log);
    Runtime.getRuntime().addShutdownHook(running.hook);
    try {
      // A server starts on a full disk, too: what it writes then is little.
      return DiskReserve.freeing(
          () -> {
            running.start(environment, config, clock);
            return running;
          });
    } catch (RuntimeException e) {
      running.close();
      throw e;
    }
  }

  private void start(CliEnvironment environment, Config config, InstantSource clock) {
    ListeningPort port =
        ListeningPort.open(
            IsolaServer.Address.of(
                config.get(ConfigKeys.SERVER_HOST), config.get(ConfigKeys.SERVER_PORT).intValue()));
    closers.push(port::close);
    DataFolder data = new DataFolder(config.get(ConfigKeys.DATA));
    Path _ = data.createIfMissing(); // also for a ledger that is elsewhere
    LedgerConfig location = LedgerLocation.of(config, data);
    DiskReserve reserve = reserve(data, location);
    Ledger ledger = Ledgers.open(location, reserve);
    closers.push(ledger::close);
    closers.push(new ShutdownReport(config, ledger, log)::write);
    ApiKeys keys = keys(environment, ledger, clock, log);
    MachineNames names = MachineNames.of(config.get(ConfigKeys.SERVER_HOST));
    Optional<String> e2bDomain = config.get(ConfigKeys.E2B_DOMAIN);
    Optional<LocalCertificateAuthority> authority = authority(config, data, clock);
    List<String> domains =
        Stream.concat(config.get(ConfigKeys.SERVER_DOMAINS).stream(), e2bDomain.stream())
            .distinct()
            .toList();
    ServerContext serving = new ServerContext();
    ImageStore store = new ImageStore(data.path());
    ImageService images = new HostImages(store);
    IsolaServer server =
        IsolaServer.open(
            port,
            Api.routes(
                serving,
                keys,
                config.get(ConfigKeys.PROVIDER),
                VersionCommand.version(),
                () -> SetupSteps.collect(environment, data),
                images,
                new AuditReader(ServeOptions.auditFile(config, data)),
                ServeOptions.oidc(config).map(one -> new OidcSignIn(one, keys, clock, log)),
                List.of(
                    new E2bApi(
                        serving,
                        keys,
                        new E2bSettings(
                            config.get(ConfigKeys.PROVIDER),
                            config.get(ConfigKeys.E2B_NETWORK),
                            Optional.of(new LedgerSettingsStore(ledger)),
                            e2bDomain,
                            config.get(ConfigKeys.E2B_ALLOW_INSECURE)),
                        images),
                    new BackendApi(serving, config.get(ConfigKeys.PROVIDER)),
                    new McpApi(
                        serving,
                        keys,
                        config.get(ConfigKeys.PROVIDER),
                        VersionCommand.version(),
                        new HostingLimits(
                            config.get(ConfigKeys.MCP_START_TIMEOUT),
                            config.get(ConfigKeys.MCP_REQUEST_TIMEOUT))),
                    new ConfigApi(config),
                    new DashboardApi())),
            new HostOriginFilter(domains, names),
            keys,
            log,
            ServeOptions.of(
                config, data, authority, serving, clock, log, reserve::drawForRecords, closers),
            log);
    ServeOptions.auditFile(config, data)
        .ifPresent(file -> reserve.keepAllocatedAfterEnd(file, AUDIT_BYTES));
    http = server;
    if (config.get(ConfigKeys.E2B_ALLOW_INSECURE)) {
      log.warning(
          "e2b.allow_insecure is on: every client that can reach this server and knows the id of an"
              + " E2B sandbox created without secure: true controls that sandbox, without a key");
    }
    authority.ifPresent(one -> renewCertificate(environment, one, server));
    if (keys.isEmpty()) { // so the address is a loopback address
      printFirstKey(environment, keys);
    }
    print(environment, StartupReport.listeningLine(server, names, domains, e2bDomain) + "\n");
    try {
      Optional<SharedInstallation> shared =
          config
              .get(ConfigKeys.SERVER_PEER_URL)
              .map(url -> SharedInstallation.join(config, url, ledger, data));
      if (shared.isEmpty() && config.get(ConfigKeys.STORE_URL).isPresent()) {
        SharedInstallation.record(ledger, data);
      }
      closers.push(data.claim()::close);
      if (shared.isPresent()) {
        closers.push(keys.followChanges(log)::close);
      }
      ProviderRegistry registry =
          ProviderRegistry.open(
              environment.factories(),
              config.providers(),
              name -> {
                Path folder = data.providerFolder(name);
                shared.ifPresent(one -> one.shareKey(environment.factories(), name, folder));
                return new ProviderContext(data.instance(), folder, data.path(), clock);
              },
              clock,
              log);
      closers.push(registry::close);
      HealthMonitor health =
          HealthMonitor.start(
              registry.providers(), registry.unavailable(), config.probeSchedule(), clock, log);
      closers.push(health::close);
      Engine engine =
          Engine.open(
              config,
              ledger,
              registry,
              health,
              shared.isPresent() ? Optional.empty() : Optional.of(new HostTemplateImages(store)),
              shared.map(SharedInstallation::identity),
              clock,
              log);
      closers.push(engine::close);
      ServerContext.Components components = new ServerContext.Components(engine, registry, health);
      components.peers().ifPresent(peers -> closers.push(peers::close));
      serving.start(components);
      StartupReport report = new StartupReport(config, engine.readiness(), log);
      Thread.ofVirtual()
          .name("isola-start-report")
          .start(() -> report.write(health.awaitFirstProbes(any -> engine.readiness().isReady())));
    } finally {
      closers.push(
          () -> {
            server.beginShutdown();
            serving.current().ifPresent(RunningServer::beginShutdown);
            server.close(SHUTDOWN_TIMEOUT);
          });
    }
  }

  /** Opens the disk reserve for the data folder and for a ledger on another file system. */
  private static DiskReserve reserve(DataFolder data, LedgerConfig location) {
    List<Path> folders = new ArrayList<>(List.of(data.path()));
    if (location.location() instanceof LedgerConfig.Folder(Path ledger)
        && Files.isDirectory(ledger)) {
      folders.add(ledger);
    }
    try {
      DiskReserve reserve = DiskReserve.open(folders);
      reserve.makeRoomToStart();
      return reserve;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the file system of " + data.path() + " cannot be read: " + e,
              "check that the data folder is mounted")
          .exception(e);
    }
  }

  private static void beginShutdown(ServerContext.Components components) {
    components.peers().ifPresent(PeerServers::endStreams);
    components.engine().beginShutdown();
  }

  /** Opens the authority for the certificate of the E2B domain, unless there is a certificate. */
  private static Optional<LocalCertificateAuthority> authority(
      Config config, DataFolder data, InstantSource clock) {
    boolean configured =
        config.get(ConfigKeys.SERVER_TLS_CERT).isPresent()
            || config.get(ConfigKeys.SERVER_TLS_KEY).isPresent();
    return config
        .get(ConfigKeys.E2B_DOMAIN)
        .filter(_ -> !configured)
        .map(domain -> LocalCertificateAuthority.open(data, domain, clock));
  }

  /** Prints how clients trust a new authority, and renews the certificate that it issued. */
  private void renewCertificate(
      CliEnvironment environment, LocalCertificateAuthority authority, IsolaServer server) {
    authority.usage(server.port()).forEach(line -> ErrorReport.writeLine(environment, line));
    CertificateRenewal renewal =
        CertificateRenewal.start(
            CertificateRenewal.INTERVAL, () -> server.replaceCertificate(authority.issue()), log);
    closers.push(renewal::close);
  }

  private static ApiKeys keys(
      CliEnvironment environment, Ledger ledger, InstantSource clock, ServerLog log) {
    Optional<String> provided =
        Optional.ofNullable(environment.variables().get("ISOLA_API_KEY"))
            .filter(key -> !key.isEmpty());
    ApiKeys keys = ApiKeys.open(new LedgerSettingsStore(ledger), provided, clock);
    if (provided.filter(key -> !ApiKeys.hasKeyForm(key)).isPresent()) {
      log.warning(
          "ISOLA_API_KEY does not start with "
              + ApiKeys.PREFIX
              + " or "
              + ApiKeys.E2B_PREFIX
              + ": if a client sends it to a public preview, the sandbox can read it; choose a key"
              + " that does");
    }
    return keys;
  }

  /** Creates the first key and prints it, once the server has started with what could fail. */
  private static void printFirstKey(CliEnvironment environment, ApiKeys keys) {
    ErrorReport.writeLine(
        environment,
        "the first key, shown this once: " + keys.create("first", Scope.ADMIN).secret());
    ErrorReport.writeLine(
        environment,
        "as E2B_API_KEY the same key begins with "
            + ApiKeys.E2B_PREFIX
            + " in place of "
            + ApiKeys.PREFIX);
  }

  private static void print(CliEnvironment environment, String text) {
    try {
      environment.out().write(text.getBytes(StandardCharsets.UTF_8));
      environment.out().flush();
    } catch (IOException e) {
      // Standard output is closed; the port may still be known from the configuration.
    }
  }

  /** Returns the URL of the server. */
  public String url() {
    return Objects.requireNonNull(http, "the server is not open").url();
  }

  /** Waits until the server is stopped and everything is closed. */
  public void await() {
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeOnSignal() {
    log.info("shutting down");
    close();
  }

  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      while (!closers.isEmpty()) {
        try {
          closers.pop().run();
        } catch (SandboxException e) {
          log.warning("error during shutdown: " + e.fault().problem());
        }
      }
      ended.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The shutdown hook is running this method.
      }
    }
  }
}
