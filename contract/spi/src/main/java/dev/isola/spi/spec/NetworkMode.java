package dev.isola.spi.spec;

/** The network of a sandbox. */
public enum NetworkMode {
  /** Only a loopback interface of its own. */
  NONE,
  /** An address of its own, routed through the host. */
  BRIDGE,
  /** The network of the host. */
  HOST
}
