package dev.isola.provider.e2b;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;

/** Makes the {@code e2b} provider. Its settings are in docs/providers/e2b.md. */
public final class E2bProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return Description.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return Description.PROFILE;
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new E2bProvider(Settings.of(config), context);
  }
}
