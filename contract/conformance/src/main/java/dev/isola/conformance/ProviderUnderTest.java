package dev.isola.conformance;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * The provider to check. It can be opened several times on the same data folder, as different
 * processes would.
 *
 * @param data the data folder of the provider, the same for every {@link #open()}
 */
public record ProviderUnderTest(
    ProviderFactory factory, ProviderConfig config, InstanceId instance, Path data) {

  public String name() {
    return factory.name();
  }

  public Provider open() {
    return factory.create(config, new ProviderContext(instance, data, InstantSource.system()));
  }
}
