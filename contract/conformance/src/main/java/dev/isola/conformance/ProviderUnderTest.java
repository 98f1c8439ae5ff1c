package dev.isola.conformance;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * A provider as the kit meets it: something that can be opened again, on the same data, as another
 * process would.
 *
 * @param data the provider's folder; the same for every opening
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
