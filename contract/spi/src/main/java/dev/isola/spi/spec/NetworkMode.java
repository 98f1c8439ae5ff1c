package dev.isola.spi.spec;

/** The network of a sandbox. */
public enum NetworkMode {
  /** Only a loopback interface of its own. */
  NONE,
  /**
   * Only a loopback interface of its own, but connections to other hosts are passed to the server,
   * which decides by the name of the host and connects for the sandbox.
   */
  FILTERED,
  /** An address of its own, routed through the host. */
  BRIDGE,
  /** The network of the host. */
  HOST
}
