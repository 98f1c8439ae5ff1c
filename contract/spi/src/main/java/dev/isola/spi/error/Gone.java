package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the sandbox existed and was destroyed. It cannot be recovered. */
public final class Gone extends SandboxException {
  private static final long serialVersionUID = 1L;

  Gone(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
