package dev.isola.provider.kubernetes;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code kubernetes} provider. docs/providers/kubernetes.md documents its settings. */
public final class KubernetesProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return KubernetesDescription.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return KubernetesDescription.PROFILE;
  }

  @Override
  public List<String> programs() {
    return List.of("kubectl");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new KubernetesProvider(KubernetesSettings.of(config), context);
  }
}
