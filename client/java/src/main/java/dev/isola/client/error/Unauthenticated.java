package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The key is missing or unknown to the server. */
public final class Unauthenticated extends IsolaException {
  private static final long serialVersionUID = 1L;

  Unauthenticated(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
