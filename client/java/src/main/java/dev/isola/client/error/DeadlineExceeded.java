package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that it took longer than it may. */
public final class DeadlineExceeded extends IsolaException {
  private static final long serialVersionUID = 1L;

  DeadlineExceeded(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
