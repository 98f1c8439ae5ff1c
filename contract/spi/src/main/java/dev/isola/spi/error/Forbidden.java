package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the client is not permitted to do this, regardless of whether it authenticated. */
public final class Forbidden extends SandboxException {
  private static final long serialVersionUID = 1L;

  Forbidden(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
