package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the current state of a resource, or its existence, prevents the request. */
public final class Conflict extends SandboxException {
  private static final long serialVersionUID = 1L;

  Conflict(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
