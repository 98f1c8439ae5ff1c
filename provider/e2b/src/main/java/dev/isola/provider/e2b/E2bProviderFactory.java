package dev.isola.provider.e2b;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;

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
