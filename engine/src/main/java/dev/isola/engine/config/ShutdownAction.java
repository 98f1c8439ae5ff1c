package dev.isola.engine.config;

/** What becomes of sandboxes when the server ends. */
public enum ShutdownAction {
  /** They are destroyed, after what runs in them has ended or the time is up. */
  DRAIN,
  /** They go on, and the next server finds them. */
  LEAVE
}
