package dev.isola.compat.e2b.model;

import dev.isola.spi.error.ErrorCode;
import java.util.Locale;

/** Error codes of the Connect protocol with their HTTP status. */
public enum ConnectCode {
  UNKNOWN(500),
  INVALID_ARGUMENT(400),
  DEADLINE_EXCEEDED(504),
  NOT_FOUND(404),
  ALREADY_EXISTS(409),
  PERMISSION_DENIED(403),
  RESOURCE_EXHAUSTED(429),
  FAILED_PRECONDITION(400),
  UNIMPLEMENTED(501),
  INTERNAL(500),
  UNAVAILABLE(503),
  UNAUTHENTICATED(401);

  private final int status;

  ConnectCode(int status) {
    this.status = status;
  }

  public int status() {
    return status;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static ConnectCode of(ErrorCode code) {
    return switch (code) {
      case INVALID_REQUEST,
          INVALID_SPEC,
          PATH_OUTSIDE,
          NOT_A_FILE,
          NOT_A_FOLDER,
          IS_A_FOLDER,
          BAD_ARCHIVE,
          COMMAND_NOT_FOUND,
          COMMAND_NOT_EXECUTABLE,
          INIT_FAILED,
          BUILD_FAILED ->
          INVALID_ARGUMENT;
      case PERMISSION_DENIED, FORBIDDEN -> PERMISSION_DENIED;
      case USER_NOT_FOUND, UNAUTHENTICATED -> UNAUTHENTICATED;
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
          ROUTE_NOT_FOUND,
          SANDBOX_DESTROYED,
          SNAPSHOT_DAMAGED ->
          NOT_FOUND;
      case FILE_EXISTS -> ALREADY_EXISTS;
      case CONFLICT, FOLDER_NOT_EMPTY, ILLEGAL_STATE, UNSAVED_WORK -> FAILED_PRECONDITION;
      case RESOURCE_LIMIT, DISK_FULL, RATE_LIMITED -> RESOURCE_EXHAUSTED;
      case NOT_IMPLEMENTED, METHOD_NOT_ALLOWED -> UNIMPLEMENTED;
      case OUTCOME_UNKNOWN -> UNKNOWN;
      case PROVIDER_UNAVAILABLE, SPAWN_FAILED -> UNAVAILABLE;
      case EXEC_TIMEOUT, DEADLINE_EXCEEDED, CANCELLED -> DEADLINE_EXCEEDED;
      case EXECUTION_FAILED, INTERNAL -> INTERNAL;
    };
  }
}
