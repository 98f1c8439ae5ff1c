package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the sandbox was there and is destroyed. Nothing brings it back. */
public final class Gone extends SandboxException {
  private static final long serialVersionUID = 1L;

  Gone(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
