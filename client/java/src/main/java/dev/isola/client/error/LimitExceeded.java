package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that a limit is met; later or smaller may work. */
public final class LimitExceeded extends IsolaException {
  private static final long serialVersionUID = 1L;

  LimitExceeded(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
