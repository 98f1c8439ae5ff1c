package dev.isola.compat.e2b;

import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.server.Options;
import dev.isola.server.ServerHouse;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.testing.provider.TestProviderFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The server of the server's own tests, which answers E2B's API as well. */
final class E2bHouse {
  private E2bHouse() {}

  static ServerHouse open(Path folder) {
    return open(folder, serving -> Options.NONE);
  }

  static ServerHouse open(Path folder, Function<Serving, Options> options) {
    return open(folder, new TestProviderFactory(), options, Map.of());
  }

  static ServerHouse open(
      Path folder,
      ProviderFactory factory,
      Function<Serving, Options> options,
      Map<String, String> config) {
    return new ServerHouse(
        folder,
        Duration.ofSeconds(30),
        factory,
        options,
        config,
        (serving, keys, stored) ->
            List.of(
                new E2bApi(
                    serving,
                    keys,
                    new E2bSettings(factory.name(), NetworkMode.NONE, Optional.of(stored)),
                    Images.NONE)));
  }
}
