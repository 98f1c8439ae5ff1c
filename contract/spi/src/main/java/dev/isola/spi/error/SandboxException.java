package dev.isola.spi.error;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The only exception that a provider, a sandbox or a file system throws. A command that exits with
 * a nonzero code is not an error and never becomes one.
 *
 * <p>Created by {@link Fault#exception()}. Callers decide by the class how to react, and learn from
 * {@link #code()} what happened.
 */
public abstract sealed class SandboxException extends RuntimeException
    permits InvalidRequest,
        Unauthenticated,
        Forbidden,
        NotFound,
        Conflict,
        Gone,
        LimitExceeded,
        Unsupported,
        OutcomeUnknown,
        ProviderUnavailable,
        DeadlineExceeded,
        Internal {

  private static final long serialVersionUID = 1L;

  private final transient Fault fault;

  SandboxException(Fault fault, @Nullable Throwable cause) {
    super(
        fault.remedy().isEmpty() ? fault.problem() : fault.problem() + "; " + fault.remedy(),
        cause);
    this.fault = fault;
  }

  public final Fault fault() {
    return fault;
  }

  public final ErrorCode code() {
    return fault.code();
  }

  public final Category category() {
    return fault.code().category();
  }

  public final Optional<SandboxId> sandbox() {
    return fault.sandbox();
  }

  public final Instant at() {
    return fault.at();
  }

  public final Map<String, String> context() {
    return fault.context();
  }
}
