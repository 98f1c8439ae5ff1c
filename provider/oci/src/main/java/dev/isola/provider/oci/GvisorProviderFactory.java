package dev.isola.provider.oci;

import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;
import java.util.Optional;

/**
 * Creates the {@code gvisor} provider. The setting {@code program} names another executable, {@code
 * platform} the platform of gVisor.
 */
public final class GvisorProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return GvisorRuntime.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new GvisorRuntime(Optional::empty).traits().profile();
  }

  @Override
  public List<String> programs() {
    return List.of("runsc");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    SandboxProbe probe = new SandboxProbe(context);
    GvisorPlatform platform = new GvisorPlatform(config, probe);
    GvisorMemory memory = new GvisorMemory(config, probe, platform::choose);
    return OciProviders.of(
        new GvisorRuntime(platform::choose, memory::problem), probe, config, context);
  }
}
