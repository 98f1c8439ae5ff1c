package dev.isola.integrations.wrong;

import dev.isola.engine.api.SandboxView;

/** Violates the dependency rule of its folder: integrations use the SDK only. */
public final class Wrong {
  Class<?> forbidden() {
    return SandboxView.class;
  }
}
