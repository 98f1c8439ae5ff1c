package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The key's scope does not allow the request. */
public final class Forbidden extends IsolaException {
  private static final long serialVersionUID = 1L;

  Forbidden(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
