package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** A limit was reached; the request may succeed later or with a smaller size. */
public final class LimitExceeded extends IsolaException {
  private static final long serialVersionUID = 1L;

  LimitExceeded(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
