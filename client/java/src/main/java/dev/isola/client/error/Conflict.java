package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The current state does not allow the request. */
public final class Conflict extends IsolaException {
  private static final long serialVersionUID = 1L;

  Conflict(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
