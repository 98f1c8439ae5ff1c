package dev.isola.provider.oci;

import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code runc} provider. The setting {@code program} names another executable. */
public final class RuncProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return RuncRuntime.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new RuncRuntime().traits().profile();
  }

  @Override
  public List<String> programs() {
    return List.of("runc");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return OciProviders.of(new RuncRuntime(), new SandboxProbe(context), config, context);
  }
}
