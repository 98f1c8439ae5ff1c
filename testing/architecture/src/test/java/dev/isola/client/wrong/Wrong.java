package dev.isola.client.wrong;

import dev.isola.app.Main;

/**
 * Violates the dependency rules of its folder: only app may use app, and no module embedded or
 * integrations.
 */
final class Wrong {
  Class<?> forbidden() {
    return Main.class;
  }

  Class<?> integration() {
    return dev.isola.integrations.wrong.Wrong.class;
  }

  Class<?> engine() {
    return dev.isola.embedded.wrong.Wrong.class;
  }
}
