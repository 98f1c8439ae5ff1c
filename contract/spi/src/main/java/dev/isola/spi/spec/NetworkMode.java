package dev.isola.spi.spec;

/** What network a sandbox has. */
public enum NetworkMode {
  /** None but its own loopback. */
  NONE,
  /** Its own address behind the host. */
  BRIDGE,
  /** The host's. */
  HOST
}
