package dev.isola.client.error;

import org.jspecify.annotations.Nullable;

/** Says that the sandbox's provider cannot do this. */
public final class Unsupported extends IsolaException {
  private static final long serialVersionUID = 1L;

  Unsupported(Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
  }
}
