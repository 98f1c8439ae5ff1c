package dev.isola.provider.microvmctl;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.ProviderSetting;
import java.util.List;

/** Creates the {@code microvmctl} provider. docs/providers/microvmctl.md documents its settings. */
public final class MicrovmctlProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return MicrovmctlDescription.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return MicrovmctlDescription.PROFILE;
  }

  @Override
  public List<ProviderSetting> settings() {
    return MicrovmctlSettings.DECLARED;
  }

  @Override
  public List<String> programs() {
    return List.of("microvmctl", "ssh");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new MicrovmctlProvider(MicrovmctlSettings.of(config), context);
  }
}
