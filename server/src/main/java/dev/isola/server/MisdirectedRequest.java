package dev.isola.server;

import dev.isola.spi.SandboxId;

/**
 * Thrown when another server passed a request on to this one, which does not own the sandbox. The
 * other server looks for the owner again.
 */
final class MisdirectedRequest extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates the exception of a server that is shutting down. */
  MisdirectedRequest() {
    super("this server is shutting down");
  }

  MisdirectedRequest(SandboxId sandbox) {
    super("this server does not own sandbox " + sandbox);
  }
}
