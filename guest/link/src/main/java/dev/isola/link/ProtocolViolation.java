package dev.isola.link;

/**
 * Says that the agent sent something it must not send. Never leaves the package: it ends the
 * connection, and callers see a {@link dev.isola.spi.error.SandboxException}.
 */
final class ProtocolViolation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ProtocolViolation(String message) {
    super(message);
  }
}
