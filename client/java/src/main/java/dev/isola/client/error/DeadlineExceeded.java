package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The request or command exceeded its time limit, or was cancelled. */
public final class DeadlineExceeded extends IsolaException {
  private static final long serialVersionUID = 1L;

  DeadlineExceeded(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
