package dev.isola.engine.placement;

import dev.isola.spi.capability.Sandbox;

/** Creates a sandbox at a given provider. */
@FunctionalInterface
public interface SandboxFactory {
  /**
   * Creates the sandbox, or leaves nothing behind.
   *
   * @throws dev.isola.spi.error.SandboxException whose code decides about fallback
   */
  Sandbox create(String provider);
}
