package dev.isola.server.wrong;

import dev.isola.engine.lifecycle.LiveSandboxes;

/** Violates a dependency rule: the server uses of the engine only its API. */
final class EngineInternalsUser {
  Class<?> forbidden() {
    return LiveSandboxes.class;
  }
}
