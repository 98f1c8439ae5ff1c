package dev.isola.embedded.wrong;

import dev.isola.app.Main;
import dev.isola.store.Ledgers;

/**
 * Violates the dependency rules of its folder: of app it may use only what starts a server, and
 * nothing of the store.
 */
public final class Wrong {
  Class<?> forbidden() {
    return Main.class;
  }

  Class<?> alsoForbidden() {
    return Ledgers.class;
  }
}
