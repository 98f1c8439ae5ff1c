package dev.isola.engine.metrics;

import java.util.Locale;

/** Which way bytes go, as the sandbox sees it. */
public enum Direction {
  IN,
  OUT;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
