package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.Engine;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SettingsStore;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.engine.ledger.LedgerSettingsStore;
import dev.isola.server.api.Api;
import dev.isola.server.api.SetupStep;
import dev.isola.server.audit.AuditReader;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.oidc.OidcSignIn;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Routes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.store.VolumeEntry;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.awaitility.Awaitility;

/** A server on a free port, with a real engine on SQLite and the test provider. */
public final class TestServer implements AutoCloseable {
  static {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
  }

  public final Log log;
  public final Ledger ledger;
  public final ProviderRegistry registry;
  public final HealthMonitor health;
  public final Engine engine;
  public final ApiKeys keys;
  public final Routes routes;
  public final ServerContext context = new ServerContext();
  public final IsolaServer server;
  public final AtomicInteger setupChecks = new AtomicInteger();
  public final List<AccessLog.Line> requests = new CopyOnWriteArrayList<>();
  public final List<String> warnings = new CopyOnWriteArrayList<>();
  public final String admin;
  public final String use;
  public final String read;

  public TestServer(Path folder) {
    this(folder, Duration.ofSeconds(30));
  }

  public TestServer(Path folder, Duration idle) {
    this(folder, idle, new TestProviderFactory());
  }

  public TestServer(Path folder, Duration idle, ProviderFactory factory) {
    this(folder, idle, factory, context -> HttpServerOptions.NONE, Map.of());
  }

  public TestServer(
      Path folder,
      Duration idle,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> settings) {
    this(folder, idle, new TestProviderFactory(), options, settings);
  }

  /**
   * @param settings settings of the engine in addition to the defaults
   */
  public TestServer(
      Path folder,
      Duration idle,
      ProviderFactory factory,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> settings) {
    this(folder, idle, factory, options, settings, (context, keys, stored) -> List.of());
  }

  /** Creates the API extensions of a server. */
  public interface ExtensionFactory {
    List<ApiExtension> extensions(ServerContext context, ApiKeys keys, SettingsStore stored);
  }

  /**
   * @param settings settings of the engine in addition to the defaults
   */
  public TestServer(
      Path folder,
      Duration idle,
      ProviderFactory factory,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> settings,
      ExtensionFactory extending) {
    this(folder, idle, factory, options, settings, extending, keys -> Optional.empty());
  }

  /**
   * @param settings settings of the engine in addition to the defaults
   * @param signIn how people sign in with an OpenID Connect provider
   */
  public TestServer(
      Path folder,
      Duration idle,
      ProviderFactory factory,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> settings,
      ExtensionFactory extending,
      Function<ApiKeys, Optional<OidcSignIn>> signIn) {
    log =
        new Log() {
          @Override
          public void info(String sentence) {}

          @Override
          public void warning(String sentence) {
            warnings.add(sentence);
          }
        };
    List<FlagValue> flags = new ArrayList<>();
    flags.add(new FlagValue("--set", "floor", "process"));
    flags.add(new FlagValue("--set", "allow_process", "true"));
    flags.add(new FlagValue("--set", "provider", factory.name()));
    settings.forEach((key, value) -> flags.add(new FlagValue("--set", key, value)));
    InstantSource clock = InstantSource.system();
    Config config =
        ConfigReader.read(
                new ConfigInput(
                    new MachineInfo(1 << 30, 10_000, folder),
                    Optional.empty(),
                    Map.of(),
                    flags,
                    List.of(factory.name())))
            .orThrow();
    ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    registry =
        ProviderRegistry.open(
            List.of(factory),
            config.providers(),
            name -> new ProviderContext(instance(folder), made(folder, name), clock),
            clock,
            log);
    health =
        HealthMonitor.start(
            registry.providers(), registry.unavailable(), config.probeSchedule(), clock, log);
    engine =
        Engine.open(
            config, ledger, registry, health, Optional.empty(), Optional.empty(), clock, log);
    keys = ApiKeys.open(new LedgerSettingsStore(ledger), Optional.empty(), clock);
    admin = key("admin", Scope.ADMIN);
    use = key("use", Scope.USE);
    read = key("read", Scope.READ);
    routes =
        Api.routes(
            context,
            keys,
            factory.name(),
            "test",
            () -> {
              setupChecks.incrementAndGet();
              return List.of(
                  new SetupStep("machine", "kernel", true, "6.18", ""),
                  new SetupStep("tool", "bwrap", false, "not installed", "apt install bubblewrap"));
            },
            ImageService.NONE,
            new AuditReader(Optional.of(folder.resolve("audit.jsonl"))),
            signIn.apply(keys),
            extending.extensions(context, keys, new LedgerSettingsStore(ledger)));
    server =
        IsolaServer.open(
            new IsolaServer.Address("127.0.0.1", 0, idle),
            routes,
            new HostOriginFilter(List.of("isola.example")),
            keys,
            requests::add,
            options.apply(context),
            log);
    context.start(new ServerContext.Components(engine, registry, health));
  }

  /** Returns an instance id that is unique to the directory and stable across restarts. */
  private static InstanceId instance(Path folder) {
    return new InstanceId("h" + Integer.toHexString(folder.toAbsolutePath().hashCode()));
  }

  private static Path made(Path folder, String name) {
    try {
      return Files.createDirectories(folder.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates a key, replacing the one of an earlier server on the same ledger. */
  private String key(String name, Scope scope) {
    keys.revoke(name);
    return keys.create(name, scope).secret();
  }

  /**
   * Inserts a volume that no provider has into the ledger; returns its id, which is also its name.
   */
  public String plantVolume() {
    String name = "planted";
    Instant now = Instant.now();
    assertThat(
            ledger
                .volumes()
                .insert(
                    new VolumeEntry(name, "", name, "test", VolumeEntry.State.AVAILABLE, now, now)))
        .isTrue();
    return name;
  }

  public TestClient client() {
    return new TestClient(server.port(), admin);
  }

  public TestClient client(String key) {
    return new TestClient(server.port(), key);
  }

  /** Stops the server. Its sandboxes keep running for the next server. */
  public void stop() {
    server.close();
    engine.close();
    health.close();
    registry.close();
    ledger.close();
  }

  @Override
  public void close() {
    server.close();
    engine.close();
    health.close();
    destroySandboxes();
    registry.close();
    ledger.close();
  }

  /** Destroys all sandboxes, whose processes would outlive the test. */
  private void destroySandboxes() {
    for (Provider provider : registry.providers().values()) {
      try {
        provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
      } catch (SandboxException e) {
        System.err.println("cannot destroy a sandbox of the test: " + e.getMessage());
      }
    }
  }
}
