package dev.isola.provider.bubblewrap;

import dev.isola.host.launch.IoSettings;
import dev.isola.host.launch.IsolatedBooter;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/**
 * Creates the {@code bubblewrap} provider. The setting {@code program} names another executable;
 * the others are {@link IoSettings}.
 */
public final class BubblewrapProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return BubblewrapIsolator.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return BubblewrapIsolator.TRAITS.profile();
  }

  @Override
  public List<String> programs() {
    return List.of("bwrap");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    BubblewrapProbe probe = new BubblewrapProbe(config, new SandboxProbe(context));
    return new LocalProvider(
        context, new IsolatedBooter(context, new BubblewrapIsolator(probe), IoSettings.of(config)));
  }
}
