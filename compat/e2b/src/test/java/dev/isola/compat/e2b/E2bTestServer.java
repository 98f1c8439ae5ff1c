package dev.isola.compat.e2b;

import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestServer;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.testing.provider.TestProviderFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Starts the server of the server tests with E2B's API. */
final class E2bTestServer {
  private E2bTestServer() {}

  static TestServer open(Path folder) {
    return open(folder, context -> HttpServerOptions.NONE);
  }

  static TestServer open(Path folder, Function<ServerContext, HttpServerOptions> options) {
    return open(folder, new TestProviderFactory(), options, Map.of());
  }

  static TestServer open(
      Path folder,
      ProviderFactory factory,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> config) {
    return open(folder, factory, options, config, NetworkMode.NONE, false);
  }

  /** Opens a server whose operator allows sandboxes that need no token. */
  static TestServer openInsecure(
      Path folder, ProviderFactory factory, Map<String, String> config, NetworkMode network) {
    return open(folder, factory, context -> HttpServerOptions.NONE, config, network, true);
  }

  private static TestServer open(
      Path folder,
      ProviderFactory factory,
      Function<ServerContext, HttpServerOptions> options,
      Map<String, String> config,
      NetworkMode network,
      boolean insecure) {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        factory,
        options,
        config,
        (context, keys, stored) ->
            List.of(
                new E2bApi(
                    context,
                    keys,
                    new E2bSettings(
                        factory.name(), network, Optional.of(stored), Optional.empty(), insecure),
                    ImageService.NONE)));
  }
}
