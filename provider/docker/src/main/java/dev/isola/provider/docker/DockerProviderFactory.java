package dev.isola.provider.docker;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;

/** Makes the {@code docker} provider. Its settings are in docs/providers/docker.md. */
public final class DockerProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return Flavour.DOCKER.name();
  }

  @Override
  public ProviderProfile profile() {
    return Flavour.DOCKER.profile();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return EngineProviders.of(Flavour.DOCKER, config, context);
  }
}
