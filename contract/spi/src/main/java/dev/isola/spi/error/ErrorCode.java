package dev.isola.spi.error;

/**
 * The stable names of everything that can go wrong. They appear in API answers, in logs and in the
 * ledger, so a constant is never renamed. Type, category and HTTP status follow from the code and
 * from nothing else.
 */
public enum ErrorCode {
  INVALID_REQUEST(Kind.INVALID_REQUEST),
  INVALID_SPEC(Kind.INVALID_REQUEST),
  PATH_OUTSIDE(Kind.INVALID_REQUEST),
  NOT_A_FILE(Kind.INVALID_REQUEST),
  NOT_A_FOLDER(Kind.INVALID_REQUEST),
  IS_A_FOLDER(Kind.INVALID_REQUEST),
  BAD_ARCHIVE(Kind.INVALID_REQUEST),
  PERMISSION_DENIED(Kind.INVALID_REQUEST),
  COMMAND_NOT_FOUND(Kind.INVALID_REQUEST),
  COMMAND_NOT_EXECUTABLE(Kind.INVALID_REQUEST),
  USER_NOT_FOUND(Kind.INVALID_REQUEST),
  INIT_FAILED(Kind.INVALID_REQUEST),
  UNAUTHENTICATED(Kind.UNAUTHENTICATED),
  FORBIDDEN(Kind.FORBIDDEN),
  SANDBOX_NOT_FOUND(Kind.NOT_FOUND),
  PROVIDER_NOT_FOUND(Kind.NOT_FOUND),
  EXECUTION_NOT_FOUND(Kind.NOT_FOUND),
  FILE_NOT_FOUND(Kind.NOT_FOUND),
  PORT_NOT_OPEN(Kind.NOT_FOUND),
  IMAGE_NOT_FOUND(Kind.NOT_FOUND),
  SNAPSHOT_NOT_FOUND(Kind.NOT_FOUND),
  ROUTE_NOT_FOUND(Kind.NOT_FOUND),
  CONFLICT(Kind.CONFLICT),
  FILE_EXISTS(Kind.CONFLICT),
  FOLDER_NOT_EMPTY(Kind.CONFLICT),
  ILLEGAL_STATE(Kind.CONFLICT),
  UNSAVED_WORK(Kind.CONFLICT),
  SANDBOX_DESTROYED(Kind.GONE),
  SNAPSHOT_DAMAGED(Kind.GONE),
  RESOURCE_LIMIT(Kind.LIMIT_EXCEEDED),
  DISK_FULL(Kind.LIMIT_EXCEEDED),
  RATE_LIMITED(Kind.LIMIT_EXCEEDED),
  NOT_IMPLEMENTED(Kind.UNSUPPORTED),
  OUTCOME_UNKNOWN(Kind.OUTCOME_UNKNOWN),
  PROVIDER_UNAVAILABLE(Kind.PROVIDER_UNAVAILABLE),
  SPAWN_FAILED(Kind.PROVIDER_UNAVAILABLE),
  EXEC_TIMEOUT(Kind.DEADLINE_EXCEEDED),
  DEADLINE_EXCEEDED(Kind.DEADLINE_EXCEEDED),
  CANCELLED(Kind.DEADLINE_EXCEEDED),
  EXECUTION_FAILED(Kind.INTERNAL),
  INTERNAL(Kind.INTERNAL);

  /** The exception class a code belongs to, with what follows from it. */
  enum Kind {
    INVALID_REQUEST(Category.CALLER, 400),
    UNAUTHENTICATED(Category.CALLER, 401),
    FORBIDDEN(Category.CALLER, 403),
    NOT_FOUND(Category.CALLER, 404),
    CONFLICT(Category.CALLER, 409),
    GONE(Category.CALLER, 410),
    LIMIT_EXCEEDED(Category.RESOURCE, 429),
    UNSUPPORTED(Category.CALLER, 501),
    OUTCOME_UNKNOWN(Category.PROVIDER, 502),
    PROVIDER_UNAVAILABLE(Category.PROVIDER, 503),
    DEADLINE_EXCEEDED(Category.RESOURCE, 504),
    INTERNAL(Category.BUG, 500);

    final Category category;
    final int status;

    Kind(Category category, int status) {
      this.category = category;
      this.status = status;
    }
  }

  private final Kind kind;

  ErrorCode(Kind kind) {
    this.kind = kind;
  }

  Kind kind() {
    return kind;
  }

  public Category category() {
    return kind.category;
  }

  /**
   * Returns the HTTP status: 507 for a full disk, 422 for a failed init command, otherwise that of
   * the exception's type.
   */
  public int status() {
    return switch (this) {
      case DISK_FULL -> 507;
      case INIT_FAILED -> 422;
      default -> kind.status;
    };
  }
}
