package dev.isola.dashboard.wrong;

import dev.isola.app.Main;

/** Violates the dependency rule of its folder: only app may use app. */
final class Wrong {
  Class<?> forbidden() {
    return Main.class;
  }
}
