package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that the key does not allow this. */
public final class Forbidden extends IsolaException {
  private static final long serialVersionUID = 1L;

  Forbidden(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
