package dev.isola.spi;

/** Whether a provider can make sandboxes now. */
public sealed interface Health {
  record Healthy(String detail) implements Health {}

  /**
   * @param reason what is missing or broken
   * @param fix what a person does about it: a command where there is one
   */
  record Unhealthy(String reason, String fix) implements Health {}

  default boolean healthy() {
    return this instanceof Healthy;
  }
}
