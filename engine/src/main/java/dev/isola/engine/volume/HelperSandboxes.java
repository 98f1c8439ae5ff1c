package dev.isola.engine.volume;

import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.Order;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;

/** The engine's own calls, for sandboxes through which volumes are reached. */
public interface HelperSandboxes {
  SandboxView create(Order order);

  Sandbox sandbox(SandboxId id);

  void destroy(SandboxId id);
}
