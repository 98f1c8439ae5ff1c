package dev.isola.testing.provider;

import dev.isola.link.local.LocalProvider;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.time.Duration;

/**
 * Creates the {@code test} provider. Its setting {@code fault} plants faults by the names in {@link
 * PlantedFault}. It has no service entry, so the server never offers it; tests pass it explicitly.
 */
public final class TestProviderFactory implements ProviderFactory {
  public static final String NAME = "test";

  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(10)).whenNamed();

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ProviderProfile profile() {
    return PROFILE;
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    PlantedFaults faults = PlantedFaults.from(config);
    return new FaultInjectingProvider(
        new LocalProvider(context, new TestBooter(context, faults)), faults);
  }
}
