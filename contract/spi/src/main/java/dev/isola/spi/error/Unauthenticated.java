package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the client did not present a valid key. */
public final class Unauthenticated extends SandboxException {
  private static final long serialVersionUID = 1L;

  Unauthenticated(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
