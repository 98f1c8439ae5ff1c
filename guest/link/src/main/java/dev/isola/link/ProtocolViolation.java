package dev.isola.link;

/**
 * Thrown when the agent violates the protocol. Never leaves the package: it closes the connection,
 * and callers get a {@link dev.isola.spi.error.SandboxException}.
 */
final class ProtocolViolation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ProtocolViolation(String message) {
    super(message);
  }
}
