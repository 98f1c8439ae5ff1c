package dev.isola.server.error;

import dev.isola.spi.error.ErrorCode;

/** Maps error codes to HTTP status codes. */
public final class ErrorStatus {
  private ErrorStatus() {}

  /** Returns the HTTP status in the native API. Other dialects derive theirs from it. */
  public static int of(ErrorCode code) {
    return switch (code) {
      case INVALID_REQUEST,
          INVALID_SPEC,
          PATH_OUTSIDE,
          NOT_A_FILE,
          NOT_A_FOLDER,
          IS_A_FOLDER,
          BAD_ARCHIVE,
          PERMISSION_DENIED,
          COMMAND_NOT_FOUND,
          COMMAND_NOT_EXECUTABLE,
          USER_NOT_FOUND ->
          400;
      case UNAUTHENTICATED -> 401;
      case FORBIDDEN -> 403;
      case SANDBOX_NOT_FOUND,
          PROVIDER_NOT_FOUND,
          EXECUTION_NOT_FOUND,
          FILE_NOT_FOUND,
          PORT_NOT_OPEN,
          IMAGE_NOT_FOUND,
          SNAPSHOT_NOT_FOUND,
          VOLUME_NOT_FOUND,
          TEMPLATE_NOT_FOUND,
          KEY_NOT_FOUND,
          SECRET_NOT_FOUND,
          ROUTE_NOT_FOUND ->
          404;
      case METHOD_NOT_ALLOWED -> 405;
      case CONFLICT, FILE_EXISTS, FOLDER_NOT_EMPTY, ILLEGAL_STATE, UNSAVED_WORK -> 409;
      case SANDBOX_DESTROYED, SNAPSHOT_DAMAGED -> 410;
      case INIT_FAILED, BUILD_FAILED -> 422;
      case RESOURCE_LIMIT, RATE_LIMITED -> 429;
      case EXECUTION_FAILED, INTERNAL -> 500;
      case NOT_IMPLEMENTED -> 501;
      case OUTCOME_UNKNOWN -> 502;
      case PROVIDER_UNAVAILABLE, SPAWN_FAILED -> 503;
      case EXEC_TIMEOUT, DEADLINE_EXCEEDED, CANCELLED -> 504;
      case DISK_FULL -> 507;
    };
  }
}
