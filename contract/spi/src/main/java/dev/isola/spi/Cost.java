package dev.isola.spi;

/** What sandboxes of a provider cost, in the order in which providers are preferred. */
public enum Cost {
  /** Nothing beyond the machine that Isola runs on. */
  NONE,
  /** Another party charges for each sandbox. */
  METERED
}
