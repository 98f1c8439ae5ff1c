package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Says that this provider does not do that; context has {@code capability}. Another provider may.
 */
public final class Unsupported extends SandboxException {
  private static final long serialVersionUID = 1L;

  Unsupported(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
