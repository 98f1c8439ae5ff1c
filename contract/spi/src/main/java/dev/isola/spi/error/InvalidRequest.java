package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when the request is invalid. The message names every invalid field. */
public final class InvalidRequest extends SandboxException {
  private static final long serialVersionUID = 1L;

  InvalidRequest(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
