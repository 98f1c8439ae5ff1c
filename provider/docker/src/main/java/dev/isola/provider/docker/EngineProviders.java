package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.nio.file.Path;

/** Assembles a provider. */
final class EngineProviders {
  private EngineProviders() {}

  static Provider of(EngineVariant flavour, ProviderConfig config, ProviderContext context) {
    return new DockerProvider(
        flavour,
        DockerProviderSettings.of(
            config, new EngineAddressResolver(flavour, config, System.getenv(), home()).resolve()),
        context);
  }

  private static Path home() {
    return Path.of(System.getProperty("user.home", "/"));
  }
}
