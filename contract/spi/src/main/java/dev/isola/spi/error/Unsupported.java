package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when this provider does not support the operation; another one may. The context has {@code
 * capability}.
 */
public final class Unsupported extends SandboxException {
  private static final long serialVersionUID = 1L;

  Unsupported(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
