package dev.isola.provider.example;

import dev.isola.link.local.LocalProvider;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;

/** Makes the {@code example} provider. */
public final class ExampleProviderFactory implements ProviderFactory {
  static final String NAME = "example";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new ExampleBooter(context));
  }
}
