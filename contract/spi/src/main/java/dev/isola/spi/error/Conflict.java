package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Says that the thing is in a state, or exists already, in a way that forbids the request. */
public final class Conflict extends SandboxException {
  private static final long serialVersionUID = 1L;

  Conflict(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
