package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that Isola is at fault. */
public final class Internal extends SandboxException {
  private static final long serialVersionUID = 1L;

  Internal(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
