package dev.isola.provider.http;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.ProviderSetting;
import java.util.List;

/** Creates the {@code http} provider. docs/providers/http.md documents its settings. */
public final class HttpProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return HttpSettings.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return BackendDescription.PROFILE;
  }

  @Override
  public List<ProviderSetting> settings() {
    return HttpSettings.DECLARED;
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new HttpProvider(HttpSettings.of(config), context);
  }
}
