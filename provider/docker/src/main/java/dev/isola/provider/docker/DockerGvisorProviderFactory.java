package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;

/** Creates the {@code docker-gvisor} provider. docs/providers/docker.md documents its settings. */
public final class DockerGvisorProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return EngineVariant.DOCKER_GVISOR.name();
  }

  @Override
  public ProviderProfile profile() {
    return EngineVariant.DOCKER_GVISOR.profile();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return EngineProviders.of(EngineVariant.DOCKER_GVISOR, config, context);
  }
}
