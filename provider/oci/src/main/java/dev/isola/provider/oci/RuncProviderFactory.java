package dev.isola.provider.oci;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;

/** Makes the {@code runc} provider. The setting {@code program} names another executable. */
public final class RuncProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return Runc.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new Runc().traits().profile();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return OciProviders.of(new Runc(), new Trials(context), config, context);
  }
}
