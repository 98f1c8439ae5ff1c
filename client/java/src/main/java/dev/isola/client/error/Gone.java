package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** The sandbox is destroyed. */
public final class Gone extends IsolaException {
  private static final long serialVersionUID = 1L;

  Gone(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
