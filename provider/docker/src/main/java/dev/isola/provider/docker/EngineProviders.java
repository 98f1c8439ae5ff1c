package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.nio.file.Path;

/** Assembles a provider. */
final class EngineProviders {
  private EngineProviders() {}

  static Provider of(EngineVariant variant, ProviderConfig config, ProviderContext context) {
    return new DockerProvider(
        variant,
        DockerProviderSettings.of(
            config, new EngineAddressResolver(variant, config, System.getenv(), home()).resolve()),
        context);
  }

  private static Path home() {
    return Path.of(System.getProperty("user.home", "/"));
  }
}
