package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that what makes sandboxes, or the server, cannot do it now. */
public final class ProviderUnavailable extends IsolaException {
  private static final long serialVersionUID = 1L;

  ProviderUnavailable(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
