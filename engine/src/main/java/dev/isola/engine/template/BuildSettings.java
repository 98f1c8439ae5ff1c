package dev.isola.engine.template;

import dev.isola.spi.spec.NetworkMode;

/**
 * Where and how builds run.
 *
 * @param provider that makes the sandbox of a build; empty text for the usual one
 * @param network that its steps have; NONE leaves it to the provider
 */
public record BuildSettings(String provider, NetworkMode network) {
  public static final BuildSettings DEFAULT = new BuildSettings("", NetworkMode.NONE);
}
