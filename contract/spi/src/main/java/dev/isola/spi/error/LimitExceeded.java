package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a limit is reached. The context has {@code resource}, {@code limit} and {@code
 * actual} where they are known.
 */
public final class LimitExceeded extends SandboxException {
  private static final long serialVersionUID = 1L;

  LimitExceeded(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
