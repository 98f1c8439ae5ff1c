package dev.isola.engine.config;

/** The format of the server log. */
public enum LogFormat {
  /** Text on a terminal, JSON otherwise. */
  AUTO,

  /** Human-readable lines. */
  TEXT,

  /** One JSON object per line. */
  JSON
}
