package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code docker} provider. docs/providers/docker.md documents its settings. */
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
