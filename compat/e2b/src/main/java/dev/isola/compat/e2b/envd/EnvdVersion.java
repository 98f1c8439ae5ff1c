package dev.isola.compat.e2b.envd;

import dev.isola.engine.api.ProviderNames;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.ProviderInfo;

/**
 * Chooses the envd version that a sandbox reports. Clients check it before they use newer features,
 * so it must not exceed what the provider supports.
 */
public final class EnvdVersion {
  /** The version with every supported feature. */
  private static final String ALL = "0.6.13";

  /** The last version without recursive watches. */
  private static final String LEAST = "0.1.3";

  private EnvdVersion() {}

  /**
   * Returns the version of the sandboxes of a provider: the one that matches its capabilities, or
   * the lowest while they are unknown. Automatic selection chooses only providers with every
   * feature.
   *
   * @param provider its name; empty or {@code auto} for automatic selection
   */
  public static String of(ServerContext context, String provider) {
    if (provider.isEmpty() || provider.equals(ProviderNames.AUTO)) {
      return ALL;
    }
    String name = ProviderNames.canonical(provider);
    return context.components().health().current().stream()
        .filter(one -> one.name().equals(name))
        .flatMap(one -> one.info().stream())
        .map(EnvdVersion::of)
        .findFirst()
        .orElse(LEAST);
  }

  private static String of(ProviderInfo provider) {
    return provider.capabilities().contains(Watching.class) ? ALL : LEAST;
  }
}
