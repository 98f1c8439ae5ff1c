package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The provider of the sandbox does not support the request. */
public final class Unsupported extends IsolaException {
  private static final long serialVersionUID = 1L;

  Unsupported(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
