package dev.isola.provider.memory.file;

/** The devices there are. */
public enum DeviceKind {
  NULL,
  ZERO,
  /** The terminal of whoever opens it. */
  TERMINAL
}
