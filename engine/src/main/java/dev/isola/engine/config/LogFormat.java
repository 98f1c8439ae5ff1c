package dev.isola.engine.config;

/** How a server writes its log. */
public enum LogFormat {
  /** Text on a terminal, JSON elsewhere. */
  AUTO,

  /** Lines for people. */
  TEXT,

  /** One JSON object a line. */
  JSON
}
