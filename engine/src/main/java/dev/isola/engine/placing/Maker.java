package dev.isola.engine.placing;

import dev.isola.spi.capability.Sandbox;

/** Makes the sandbox at one provider. */
@FunctionalInterface
public interface Maker {
  /**
   * Makes it, or leaves nothing behind.
   *
   * @throws dev.isola.spi.error.SandboxException whose category decides what happens next
   */
  Sandbox make(String provider);
}
