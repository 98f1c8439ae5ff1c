package dev.isola.spi;

/** The health of a provider: whether it can create sandboxes now. */
public sealed interface Health {
  record Healthy(String detail) implements Health {}

  /**
   * The provider cannot create sandboxes.
   *
   * @param reason what is missing or broken
   * @param fix what the operator does about it, as a command where possible
   */
  record Unhealthy(String reason, String fix) implements Health {}

  /**
   * The provider creates sandboxes that have a known defect. The selector uses it only when the
   * client names it, or when no healthy provider can create the sandbox.
   *
   * @param reason what is broken
   * @param fix what the operator does about it, as a command where possible
   */
  record Degraded(String reason, String fix) implements Health {}

  /** Returns whether the provider creates sandboxes without known defects. */
  default boolean healthy() {
    return this instanceof Healthy;
  }

  /** Returns whether the provider creates sandboxes at all. */
  default boolean usable() {
    return !(this instanceof Unhealthy);
  }
}
