package dev.isola.provider.example;

import dev.isola.link.local.LocalProvider;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.time.Duration;

/** Creates the {@code example} provider. */
public final class ExampleProviderFactory implements ProviderFactory {
  static final String NAME = "example";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(Isolation.PROCESS, Hosting.LOCAL, Duration.ofMillis(10));
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new ExampleBooter(context));
  }
}
