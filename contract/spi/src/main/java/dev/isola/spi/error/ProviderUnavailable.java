package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the backend cannot be reached or could not make the sandbox. */
public final class ProviderUnavailable extends SandboxException {
  private static final long serialVersionUID = 1L;

  ProviderUnavailable(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
