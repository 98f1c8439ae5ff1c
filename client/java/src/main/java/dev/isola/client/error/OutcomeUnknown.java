package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The request may or may not have been executed; check before repeating it. */
public final class OutcomeUnknown extends IsolaException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknown(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
