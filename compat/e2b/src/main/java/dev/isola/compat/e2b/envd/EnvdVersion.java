package dev.isola.compat.e2b.envd;

import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.ProviderInfo;

/**
 * Which envd a sandbox says to have. Clients look at it before they ask for something newer, so it
 * is as high as what its provider does, and no higher.
 */
public final class EnvdVersion {
  /** Everything that is known of. */
  private static final String ALL = "0.6.13";

  /** The last one whose watches stay in one folder. */
  public static final String LEAST = "0.1.3";

  private EnvdVersion() {}

  public static String of(ProviderInfo provider) {
    return provider.capabilities().contains(Watching.class) ? ALL : LEAST;
  }
}
