package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The requested resource does not exist. */
public final class NotFound extends IsolaException {
  private static final long serialVersionUID = 1L;

  NotFound(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
