package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.time.Duration;

/**
 * Makes the {@code memory} provider. Its one setting, {@code fault}, plants faults by the names of
 * {@link dev.isola.provider.memory.fault.PlantedFault}.
 */
public final class MemoryProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return MemoryProvider.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(1)).whenNamed();
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new MemoryProvider(context, Faults.from(config));
  }
}
