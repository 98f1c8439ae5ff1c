package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that the request may or may not have been carried out; look before it is repeated. */
public final class OutcomeUnknown extends IsolaException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknown(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
