package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The provider or the server is temporarily unavailable. */
public final class ProviderUnavailable extends IsolaException {
  private static final long serialVersionUID = 1L;

  ProviderUnavailable(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
