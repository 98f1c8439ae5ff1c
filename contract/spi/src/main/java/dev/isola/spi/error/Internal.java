package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when a bug in Isola makes the call fail. */
public final class Internal extends SandboxException {
  private static final long serialVersionUID = 1L;

  Internal(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
