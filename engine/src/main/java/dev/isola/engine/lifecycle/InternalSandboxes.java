package dev.isola.engine.lifecycle;

import dev.isola.engine.api.SandboxView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;

/** Creates and destroys the sandboxes that the engine uses internally. */
public interface InternalSandboxes {
  SandboxView create(SandboxRequest request);

  Sandbox sandbox(SandboxId id);

  void destroy(SandboxId id);
}
