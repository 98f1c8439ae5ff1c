package dev.isola.provider.docker;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code podman} provider. docs/providers/docker.md documents its settings. */
public final class PodmanProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return EngineVariant.PODMAN.name();
  }

  @Override
  public ProviderProfile profile() {
    return EngineVariant.PODMAN.profile();
  }

  @Override
  public List<String> programs() {
    return List.of("podman");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return EngineProviders.of(EngineVariant.PODMAN, config, context);
  }
}
