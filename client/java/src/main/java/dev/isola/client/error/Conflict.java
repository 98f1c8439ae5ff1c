package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that the state of things does not allow this now. */
public final class Conflict extends IsolaException {
  private static final long serialVersionUID = 1L;

  Conflict(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
