package dev.isola.engine.metrics;

import java.util.Locale;

/** The category of transferred bytes. */
public enum ByteCategory {
  FILE,
  TREE,
  /** Input and output of commands. */
  STREAM,
  /** Connections to other hosts in network mode {@code filtered}. */
  EGRESS;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
