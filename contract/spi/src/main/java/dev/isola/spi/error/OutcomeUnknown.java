package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the request was sent and the response was lost, so that the operation may have taken
 * effect. Isola never retries it.
 */
public final class OutcomeUnknown extends SandboxException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknown(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
