package dev.isola.spi;

/** Whether a provider can make sandboxes now. */
public sealed interface Health {
  record Healthy(String detail) implements Health {}

  /**
   * @param reason what is missing or broken
   * @param fix what a person does about it: a command where there is one
   */
  record Unhealthy(String reason, String fix) implements Health {}

  /**
   * It makes sandboxes in which something is broken that the provider knows of. It is used when it
   * is named, or when no healthy provider can make the sandbox.
   *
   * @param reason what is broken
   * @param fix what a person does about it: a command where there is one
   */
  record Degraded(String reason, String fix) implements Health {}

  /** Tells whether it makes sandboxes without known defects. */
  default boolean healthy() {
    return this instanceof Healthy;
  }

  /** Tells whether it makes sandboxes at all. */
  default boolean usable() {
    return !(this instanceof Unhealthy);
  }
}
