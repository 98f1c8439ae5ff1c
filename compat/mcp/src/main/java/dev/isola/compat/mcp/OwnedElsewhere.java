package dev.isola.compat.mcp;

import dev.isola.spi.SandboxId;

/**
 * Thrown when another server of the installation owns the sandbox of a call. The request is then
 * passed on to that server as a whole.
 */
final class OwnedElsewhere extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient SandboxId sandbox;

  OwnedElsewhere(SandboxId sandbox) {
    super("another server owns sandbox " + sandbox);
    this.sandbox = sandbox;
  }

  SandboxId sandbox() {
    return sandbox;
  }
}
