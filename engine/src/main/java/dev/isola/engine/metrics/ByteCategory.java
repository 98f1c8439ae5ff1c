package dev.isola.engine.metrics;

import java.util.Locale;

/** The category of transferred bytes. */
public enum ByteCategory {
  FILE,
  TREE,
  /** Input and output of commands. */
  STREAM;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
