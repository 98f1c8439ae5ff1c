package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/** Thrown when a timeout expires or the caller cancels the call. The operation has been stopped. */
public final class DeadlineExceeded extends SandboxException {
  private static final long serialVersionUID = 1L;

  DeadlineExceeded(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
