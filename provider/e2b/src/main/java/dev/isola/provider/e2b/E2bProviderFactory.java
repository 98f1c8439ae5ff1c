package dev.isola.provider.e2b;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.ProviderSetting;
import java.util.List;

/** Creates the {@code e2b} provider. docs/providers/e2b.md documents its settings. */
public final class E2bProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return E2bDescription.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return E2bDescription.PROFILE;
  }

  @Override
  public List<ProviderSetting> settings() {
    return List.of(ProviderSetting.secret("api_key").withVariable("E2B_API_KEY"));
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new E2bProvider(E2bProviderSettings.of(config), context);
  }
}
