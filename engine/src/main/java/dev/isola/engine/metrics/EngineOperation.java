package dev.isola.engine.metrics;

import java.util.Locale;

/** An operation that the engine measures. */
public enum EngineOperation {
  SPAWN,
  DESTROY,
  PAUSE,
  RESUME,
  SNAPSHOT,
  RESTORE,
  EXECUTION,
  FILES;

  /** Returns the metric label. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
