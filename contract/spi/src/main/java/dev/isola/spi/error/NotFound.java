package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the thing named does not exist and, as far as is known, never did. */
public final class NotFound extends SandboxException {
  private static final long serialVersionUID = 1L;

  NotFound(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
