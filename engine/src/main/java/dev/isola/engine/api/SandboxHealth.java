package dev.isola.engine.api;

/** Whether a sandbox works. */
public enum SandboxHealth {
  /** It is running and answered a request for its usage. */
  HEALTHY,
  /** It failed, or is recorded as running and did not answer. */
  UNHEALTHY,
  /** It is not running, or its provider offers no way to probe it. */
  UNKNOWN
}
