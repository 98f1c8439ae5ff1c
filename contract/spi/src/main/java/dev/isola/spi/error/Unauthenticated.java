package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the caller did not show a valid key. */
public final class Unauthenticated extends SandboxException {
  private static final long serialVersionUID = 1L;

  Unauthenticated(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
