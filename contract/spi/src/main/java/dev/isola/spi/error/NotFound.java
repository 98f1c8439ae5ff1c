package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the named resource does not exist and, as far as is known, never existed. */
public final class NotFound extends SandboxException {
  private static final long serialVersionUID = 1L;

  NotFound(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
