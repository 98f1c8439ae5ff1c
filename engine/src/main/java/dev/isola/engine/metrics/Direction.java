package dev.isola.engine.metrics;

import java.util.Locale;

/** The direction of a transfer, from the perspective of the sandbox. */
public enum Direction {
  IN,
  OUT;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
