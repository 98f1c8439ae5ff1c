package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The request is invalid; repeating it fails again. */
public final class InvalidRequest extends IsolaException {
  private static final long serialVersionUID = 1L;

  InvalidRequest(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
