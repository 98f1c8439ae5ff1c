package dev.isola.provider.oci;

import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/** Creates the {@code crun} provider. The setting {@code program} names another executable. */
public final class CrunProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return CrunRuntime.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new CrunRuntime().traits().profile();
  }

  @Override
  public List<String> programs() {
    return List.of("crun");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return OciProviders.of(new CrunRuntime(), new SandboxProbe(context), config, context);
  }
}
