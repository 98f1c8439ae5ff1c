package dev.isola.spi.error;

import org.jspecify.annotations.Nullable;

/**
 * Says that the time given ran out, or that the caller gave up; what was started has been ended.
 */
public final class DeadlineExceeded extends SandboxException {
  private static final long serialVersionUID = 1L;

  DeadlineExceeded(Fault fault, @Nullable Throwable cause) {
    super(fault, cause);
  }
}
