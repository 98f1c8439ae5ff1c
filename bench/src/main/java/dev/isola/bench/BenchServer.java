package dev.isola.bench;

import dev.isola.engine.api.Log;
import dev.isola.engine.ledger.LedgerSettingsStore;
import dev.isola.server.IsolaServer;
import dev.isola.server.api.Api;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.context.ServerContext;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * An HTTP server for an engine on a loopback port, as {@code isola serve} runs it, and its clients.
 */
final class BenchServer implements AutoCloseable {
  static final String SUFFIX = "-http";
  private static final String KEY = "isk_of_this_measurement_only";
  private static final Log SILENT =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  private final String name;
  private final BenchEngine benchEngine;
  private final IsolaServer server;
  private final Queue<ApiClient> idle = new ConcurrentLinkedQueue<>();

  private BenchServer(String name, BenchEngine benchEngine, IsolaServer server) {
    this.name = name;
    this.benchEngine = benchEngine;
    this.server = server;
  }

  static BenchServer open(String provider, BenchEngine benchEngine) {
    ApiKeys keys =
        ApiKeys.open(
            new LedgerSettingsStore(benchEngine.ledger()),
            Optional.of(KEY),
            InstantSource.system());
    ServerContext serving = new ServerContext();
    serving.start(benchEngine.parts());
    IsolaServer server =
        IsolaServer.open(
            IsolaServer.Address.of("127.0.0.1", 0),
            Api.routes(serving, keys, provider, "bench"),
            new HostOriginFilter(List.of()),
            keys,
            line -> {},
            SILENT);
    return new BenchServer(provider + SUFFIX, benchEngine, server);
  }

  String name() {
    return name;
  }

  /** Returns the path of the shared sandbox. */
  String sandbox() {
    return "/api/v1/sandboxes/" + benchEngine.shared();
  }

  ApiClient connect() throws java.io.IOException {
    return ApiClient.connect(server.port(), KEY);
  }

  /** An action on a client connection. */
  interface ClientAction {
    void with(ApiClient client) throws java.io.IOException;
  }

  /** Runs an action on a pooled connection. */
  void withClient(ClientAction use) throws java.io.IOException {
    ApiClient kept = idle.poll();
    if (kept != null && kept.isStale()) {
      kept.close();
      kept = null;
    }
    ApiClient client = kept == null ? connect() : kept;
    boolean good = false;
    try {
      use.with(client);
      good = true;
    } finally {
      if (good) {
        idle.add(client);
      } else {
        client.close();
      }
    }
  }

  @Override
  public void close() {
    for (ApiClient client = idle.poll(); client != null; client = idle.poll()) {
      client.close();
    }
    server.close();
  }
}
