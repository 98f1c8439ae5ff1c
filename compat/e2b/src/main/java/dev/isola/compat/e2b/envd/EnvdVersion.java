package dev.isola.compat.e2b.envd;

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
  public static final String LEAST = "0.1.3";

  private EnvdVersion() {}

  public static String of(ProviderInfo provider) {
    return provider.capabilities().contains(Watching.class) ? ALL : LEAST;
  }
}
