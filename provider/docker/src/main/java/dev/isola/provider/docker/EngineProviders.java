package dev.isola.provider.docker;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;

/** Puts a provider together. */
final class EngineProviders {
  private EngineProviders() {}

  static Provider of(Flavour flavour, ProviderConfig config, ProviderContext context) {
    return new DockerProvider(
        flavour,
        Settings.of(config, EngineAddresses.of(flavour, config, System.getenv())),
        context);
  }
}
