package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that the server does not know the key, or got none. */
public final class Unauthenticated extends IsolaException {
  private static final long serialVersionUID = 1L;

  Unauthenticated(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
