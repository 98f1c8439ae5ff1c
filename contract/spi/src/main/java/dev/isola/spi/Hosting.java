package dev.isola.spi;

/** What has to run for a provider's sandboxes, in the order in which providers are preferred. */
public enum Hosting {
  /** Nothing: the provider starts sandboxes itself, on this machine. */
  LOCAL,
  /** A daemon that is not Isola's, such as Docker's engine. */
  DAEMON,
  /** A service of another party, such as a cloud: code and files leave the installation. */
  REMOTE
}
