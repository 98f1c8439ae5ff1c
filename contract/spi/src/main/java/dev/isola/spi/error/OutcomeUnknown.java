package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Says that the request went out and the answer was lost: it may have happened. Never retried by
 * Isola.
 */
public final class OutcomeUnknown extends SandboxException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknown(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
