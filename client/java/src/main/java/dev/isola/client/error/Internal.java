package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that Isola is wrong, or that a command could not be run by it. */
public final class Internal extends IsolaException {
  private static final long serialVersionUID = 1L;

  Internal(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
