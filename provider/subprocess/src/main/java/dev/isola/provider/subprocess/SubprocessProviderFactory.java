package dev.isola.provider.subprocess;

import dev.isola.link.local.LocalProvider;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;

/** Creates the {@code subprocess} provider. It has no settings. */
public final class SubprocessProviderFactory implements ProviderFactory {
  static final String NAME = "subprocess";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ProviderProfile profile() {
    return SubprocessInfo.PROFILE;
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new SubprocessBooter(NAME, context));
  }
}
