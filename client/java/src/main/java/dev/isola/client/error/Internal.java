package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Isola failed because of a bug, or could not run a command. */
public final class Internal extends IsolaException {
  private static final long serialVersionUID = 1L;

  Internal(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
