package dev.isola.client.error;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The one exception of the SDK. Callers switch on the class (what to do) or on {@link #code()}
 * (what happened). A nonzero exit of a command is not an error and never becomes one.
 */
public abstract sealed class IsolaException extends RuntimeException
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

  private final transient Problem problem;

  IsolaException(Problem problem, @Nullable Throwable cause) {
    super(
        problem.remedy().isEmpty() ? problem.detail() : problem.detail() + "; " + problem.remedy(),
        cause);
    this.problem = problem;
  }

  /** Returns everything the server said. */
  public final Problem problem() {
    return problem;
  }

  /** Returns the stable name of what happened, such as {@code FILE_NOT_FOUND}. */
  public final String code() {
    return problem.code();
  }

  /** Returns whose move it is: CALLER, RESOURCE, PROVIDER or BUG. */
  public final String category() {
    return problem.category();
  }

  /**
   * Returns whether the same call may be repeated after a pause: it changed nothing, and it may
   * succeed as it is.
   */
  public final boolean isRetryable() {
    return problem.isRetryable();
  }

  /** Returns the HTTP status; 0 when there was no answer. */
  public final int status() {
    return problem.status();
  }

  /** Returns what to do next. */
  public final String remedy() {
    return problem.remedy();
  }

  public final Optional<String> sandbox() {
    return problem.sandbox();
  }

  /** Returns what the server's log knows the request by; empty when there was no answer. */
  public final String requestId() {
    return problem.requestId();
  }

  public final Map<String, String> context() {
    return problem.context();
  }
}
