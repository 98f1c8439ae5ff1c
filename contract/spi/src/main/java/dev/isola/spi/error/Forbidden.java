package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the caller is known, or need not be, and may not do this. */
public final class Forbidden extends SandboxException {
  private static final long serialVersionUID = 1L;

  Forbidden(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
