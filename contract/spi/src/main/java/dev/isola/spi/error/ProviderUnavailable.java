package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the backend is unreachable or failed to create the sandbox. */
public final class ProviderUnavailable extends SandboxException {
  private static final long serialVersionUID = 1L;

  ProviderUnavailable(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
