package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the request makes no sense as it is; the message names every wrong field. */
public final class InvalidRequest extends SandboxException {
  private static final long serialVersionUID = 1L;

  InvalidRequest(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
