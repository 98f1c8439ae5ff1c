package dev.isola.engine.placement;

import dev.isola.spi.capability.Sandbox;

/** Makes the sandbox at one provider. */
@FunctionalInterface
public interface SandboxFactory {
  /**
   * Makes it, or leaves nothing behind.
   *
   * @throws dev.isola.spi.error.SandboxException whose category decides what happens next
   */
  Sandbox create(String provider);
}
