package dev.isola.spi;

/** Where a provider's sandboxes run. Constants are declared in order of preference. */
public enum Hosting {
  /** On this machine, started by the provider itself. */
  LOCAL,
  /** In a daemon that does not belong to Isola, such as the Docker engine. */
  DAEMON,
  /** In a third-party service, such as a cloud. Code and files leave the installation. */
  REMOTE
}
