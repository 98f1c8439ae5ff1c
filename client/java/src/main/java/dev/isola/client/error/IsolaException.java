package dev.isola.client.error;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Base class of all exceptions of the SDK. The subclass determines how to react, {@link #code()}
 * identifies what happened. A nonzero exit code of a command is never an exception.
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

  /** Returns the complete problem. */
  public final Problem problem() {
    return problem;
  }

  /** Returns the stable error code, such as {@code FILE_NOT_FOUND}. */
  public final String code() {
    return problem.code();
  }

  /** Returns the category of the cause: CALLER, RESOURCE, PROVIDER or BUG. */
  public final String category() {
    return problem.category();
  }

  /**
   * Returns whether the same call may be retried after a delay: it changed nothing, and may succeed
   * unchanged.
   */
  public final boolean isRetryable() {
    return problem.isRetryable();
  }

  /** Returns the HTTP status, or 0 if there was no response. */
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

  /** Returns the id of the request in the server's log; empty if there was no response. */
  public final String requestId() {
    return problem.requestId();
  }

  public final Map<String, String> context() {
    return problem.context();
  }
}
