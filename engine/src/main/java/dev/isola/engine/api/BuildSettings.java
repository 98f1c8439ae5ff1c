package dev.isola.engine.api;

import dev.isola.spi.spec.NetworkMode;

/**
 * The provider and network of a build.
 *
 * @param provider the provider that creates the sandbox; empty for the default
 * @param network the network of its steps; NONE for the default of the provider
 */
public record BuildSettings(String provider, NetworkMode network) {
  public static final BuildSettings DEFAULT = new BuildSettings("", NetworkMode.NONE);
}
