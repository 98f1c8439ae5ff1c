package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Makes the {@code docker} provider. Its settings are in docs/providers/docker.md. */
public final class DockerProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return EngineVariant.DOCKER.name();
  }

  @Override
  public ProviderProfile profile() {
    return EngineVariant.DOCKER.profile();
  }

  @Override
  public List<String> programs() {
    return List.of("docker");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return EngineProviders.of(EngineVariant.DOCKER, config, context);
  }
}
