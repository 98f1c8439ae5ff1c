package dev.isola.provider.docker;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;

/** Makes the {@code kata} provider. Its settings are in docs/providers/docker.md. */
public final class KataProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return Flavour.KATA.name();
  }

  @Override
  public ProviderProfile profile() {
    return Flavour.KATA.profile();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return EngineProviders.of(Flavour.KATA, config, context);
  }
}
