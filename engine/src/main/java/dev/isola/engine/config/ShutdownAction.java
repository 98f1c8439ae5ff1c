package dev.isola.engine.config;

/** What happens to sandboxes when the server shuts down. */
public enum ShutdownAction {
  /** Sandboxes are destroyed after their executions end or the timeout expires. */
  DRAIN,
  /** Sandboxes keep running, and the next server attaches to them. */
  LEAVE
}
