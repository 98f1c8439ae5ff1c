package dev.isola.spi;

/**
 * What a provider's sandboxes cost. Constants are declared in order of preference: the selector
 * prefers a provider with a lower cost.
 */
public enum Cost {
  /** Sandboxes cost nothing beyond the machine that Isola runs on. */
  NONE,
  /** A third party charges for each sandbox. */
  METERED
}
