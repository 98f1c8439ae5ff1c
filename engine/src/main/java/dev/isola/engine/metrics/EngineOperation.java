package dev.isola.engine.metrics;

import java.util.Locale;

/** Something the engine does and times. */
public enum EngineOperation {
  SPAWN,
  DESTROY,
  PAUSE,
  RESUME,
  SNAPSHOT,
  RESTORE,
  EXECUTION,
  FILES;

  /** Returns its name in a label. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
