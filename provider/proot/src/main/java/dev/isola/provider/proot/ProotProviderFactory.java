package dev.isola.provider.proot;

import dev.isola.link.local.LocalProvider;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code proot} provider. The setting {@code program} names another executable. */
public final class ProotProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return ProotBooter.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return ProotBooter.PROFILE;
  }

  @Override
  public List<String> programs() {
    return List.of("proot");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new ProotBooter(context, ProotProbe.of(config)));
  }
}
