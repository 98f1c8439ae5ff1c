package dev.isola.spi.error;

/**
 * Stable error codes. They appear in API responses, in logs and in the ledger, so a constant is
 * never renamed. The code alone determines the exception type, the category, whether another
 * provider may be tried and whether the call may be retried.
 */
public enum ErrorCode {
  INVALID_REQUEST(Kind.INVALID_REQUEST, Retry.NEVER),
  INVALID_SPEC(Kind.INVALID_REQUEST, Retry.NEVER),
  PATH_OUTSIDE(Kind.INVALID_REQUEST, Retry.NEVER),
  NOT_A_FILE(Kind.INVALID_REQUEST, Retry.NEVER),
  NOT_A_FOLDER(Kind.INVALID_REQUEST, Retry.NEVER),
  IS_A_FOLDER(Kind.INVALID_REQUEST, Retry.NEVER),
  BAD_ARCHIVE(Kind.INVALID_REQUEST, Retry.NEVER),
  PERMISSION_DENIED(Kind.INVALID_REQUEST, Retry.NEVER),
  COMMAND_NOT_FOUND(Kind.INVALID_REQUEST, Retry.NEVER),
  COMMAND_NOT_EXECUTABLE(Kind.INVALID_REQUEST, Retry.NEVER),
  USER_NOT_FOUND(Kind.INVALID_REQUEST, Retry.NEVER),
  INIT_FAILED(Kind.INVALID_REQUEST, Retry.NEVER),
  BUILD_FAILED(Kind.INVALID_REQUEST, Retry.NEVER),
  UNAUTHENTICATED(Kind.UNAUTHENTICATED, Retry.NEVER),
  FORBIDDEN(Kind.FORBIDDEN, Retry.NEVER),
  SANDBOX_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  PROVIDER_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  EXECUTION_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  FILE_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  PORT_NOT_OPEN(Kind.NOT_FOUND, Retry.NEVER),
  IMAGE_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  SNAPSHOT_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  VOLUME_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  TEMPLATE_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  KEY_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  SECRET_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  ROUTE_NOT_FOUND(Kind.NOT_FOUND, Retry.NEVER),
  METHOD_NOT_ALLOWED(Kind.INVALID_REQUEST, Retry.NEVER),
  CONFLICT(Kind.CONFLICT, Retry.NEVER),
  FILE_EXISTS(Kind.CONFLICT, Retry.NEVER),
  FOLDER_NOT_EMPTY(Kind.CONFLICT, Retry.NEVER),
  ILLEGAL_STATE(Kind.CONFLICT, Retry.NEVER),
  UNSAVED_WORK(Kind.CONFLICT, Retry.NEVER),
  SANDBOX_DESTROYED(Kind.GONE, Retry.NEVER),
  SNAPSHOT_DAMAGED(Kind.GONE, Retry.NEVER),
  RESOURCE_LIMIT(Kind.LIMIT_EXCEEDED, Retry.ANYWHERE),
  DISK_FULL(Kind.LIMIT_EXCEEDED, Retry.ELSEWHERE),
  RATE_LIMITED(Kind.LIMIT_EXCEEDED, Retry.ANYWHERE),
  NOT_IMPLEMENTED(Kind.UNSUPPORTED, Retry.NEVER),
  OUTCOME_UNKNOWN(Kind.OUTCOME_UNKNOWN, Retry.NEVER),
  PROVIDER_UNAVAILABLE(Kind.PROVIDER_UNAVAILABLE, Retry.ANYWHERE),
  SPAWN_FAILED(Kind.PROVIDER_UNAVAILABLE, Retry.ELSEWHERE),
  EXEC_TIMEOUT(Kind.DEADLINE_EXCEEDED, Retry.NEVER),
  DEADLINE_EXCEEDED(Kind.DEADLINE_EXCEEDED, Retry.ELSEWHERE),
  CANCELLED(Kind.DEADLINE_EXCEEDED, Retry.NEVER),
  EXECUTION_FAILED(Kind.INTERNAL, Retry.NEVER),
  INTERNAL(Kind.INTERNAL, Retry.NEVER);

  /** The exception class of a code, with its category. */
  enum Kind {
    INVALID_REQUEST(Category.CALLER),
    UNAUTHENTICATED(Category.CALLER),
    FORBIDDEN(Category.CALLER),
    NOT_FOUND(Category.CALLER),
    CONFLICT(Category.CALLER),
    GONE(Category.CALLER),
    LIMIT_EXCEEDED(Category.RESOURCE),
    UNSUPPORTED(Category.CALLER),
    OUTCOME_UNKNOWN(Category.PROVIDER),
    PROVIDER_UNAVAILABLE(Category.PROVIDER),
    DEADLINE_EXCEEDED(Category.RESOURCE),
    INTERNAL(Category.BUG);

    final Category category;

    Kind(Category category) {
      this.category = category;
    }
  }

  /** Where a failed call may be retried. */
  private enum Retry {
    /** Nowhere: the call would fail again, or it may already have taken effect. */
    NEVER,
    /**
     * With another provider only. With this one, something has to change first, or the call may
     * have taken effect partially.
     */
    ELSEWHERE,
    /** With this provider or another: the call changed nothing, and the cause may be temporary. */
    ANYWHERE
  }

  private final Kind kind;
  private final Retry retry;

  ErrorCode(Kind kind, Retry retry) {
    this.kind = kind;
    this.retry = retry;
  }

  Kind kind() {
    return kind;
  }

  public Category category() {
    return kind.category;
  }

  /**
   * Returns whether a create that failed with this code may be tried with another provider: this
   * provider kept nothing of the sandbox, and the cause is specific to it.
   */
  public boolean allowsFallback() {
    return retry != Retry.NEVER;
  }

  /**
   * Returns whether the same call may be retried after a delay: it changed nothing, and it may
   * succeed without a change by the client.
   */
  public boolean isRetryable() {
    return retry == Retry.ANYWHERE;
  }
}
