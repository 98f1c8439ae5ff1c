package dev.isola.engine.config;

import dev.isola.spi.spec.SandboxSpec;

/**
 * Sandboxes to keep ready.
 *
 * @param spec of each; its id stands for nothing
 * @param provider a name, or auto
 */
public record PoolEntry(SandboxSpec spec, String provider, int size, Origin origin) {
  /** The spec's environment may hold secrets. */
  @Override
  public String toString() {
    return size + " of " + provider + " from " + origin.words();
  }
}
