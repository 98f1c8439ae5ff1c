package dev.isola.compat.wrong;

import dev.isola.app.Main;

/** Breaks the arrow of its folder: only app may know app. */
final class Wrong {
  Class<?> arrow() {
    return Main.class;
  }
}
