package dev.isola.engine.lifecycle;

import dev.isola.engine.api.SandboxView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;

/** The engine's own calls, for sandboxes that it makes for itself. */
public interface InternalSandboxes {
  SandboxView create(SandboxRequest order);

  Sandbox sandbox(SandboxId id);

  void destroy(SandboxId id);
}
