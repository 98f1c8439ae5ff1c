package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that what the request names is not there. */
public final class NotFound extends IsolaException {
  private static final long serialVersionUID = 1L;

  NotFound(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
