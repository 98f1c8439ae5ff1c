package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/**
 * An ERROR frame.
 *
 * @param errno 0 when absent
 */
record RemoteError(int code, int errno, String message) {
  private static final int MESSAGE_MAX = 400;

  static RemoteError of(WireFields fields) {
    return new RemoteError(
        fields.range(FieldTag.CODE, 0, 65_535),
        (int) fields.number(FieldTag.ERRNO, 0),
        sanitize(fields.optionalText(FieldTag.MESSAGE).orElse("the agent gave no reason")));
  }

  /** Returns the exception for the caller. */
  SandboxException exception(SandboxId id) {
    Fault fault = Fault.of(errorCode(), message, remedy()).sandbox(id);
    if (errno != 0) {
      fault = fault.with("errno", Integer.toString(errno));
    }
    return fault.exception();
  }

  private ErrorCode errorCode() {
    return switch (code) {
      case Wire.E_INVALID, Wire.E_TOO_MANY_LINKS -> ErrorCode.INVALID_REQUEST;
      case Wire.E_NOT_FOUND -> ErrorCode.FILE_NOT_FOUND;
      case Wire.E_EXISTS -> ErrorCode.FILE_EXISTS;
      case Wire.E_NOT_A_FOLDER -> ErrorCode.NOT_A_FOLDER;
      case Wire.E_IS_A_FOLDER -> ErrorCode.IS_A_FOLDER;
      case Wire.E_NOT_EMPTY -> ErrorCode.FOLDER_NOT_EMPTY;
      case Wire.E_DENIED, Wire.E_READ_ONLY -> ErrorCode.PERMISSION_DENIED;
      case Wire.E_OUTSIDE -> ErrorCode.PATH_OUTSIDE;
      case Wire.E_NOT_A_FILE -> ErrorCode.NOT_A_FILE;
      case Wire.E_NO_SPACE -> ErrorCode.DISK_FULL;
      case Wire.E_LIMIT -> ErrorCode.RESOURCE_LIMIT;
      case Wire.E_UNSUPPORTED -> ErrorCode.NOT_IMPLEMENTED;
      case Wire.E_CANCELLED -> ErrorCode.CANCELLED;
      case Wire.E_EXEC_NOT_FOUND -> ErrorCode.COMMAND_NOT_FOUND;
      case Wire.E_EXEC_DENIED -> ErrorCode.COMMAND_NOT_EXECUTABLE;
      case Wire.E_NO_SUCH_USER -> ErrorCode.USER_NOT_FOUND;
      case Wire.E_NO_SUCH_EXECUTION -> ErrorCode.EXECUTION_NOT_FOUND;
      case Wire.E_REFUSED -> ErrorCode.PORT_NOT_OPEN;
      case Wire.E_BAD_ARCHIVE -> ErrorCode.BAD_ARCHIVE;
      default -> ErrorCode.EXECUTION_FAILED;
    };
  }

  private String remedy() {
    return switch (code) {
      case Wire.E_INVALID -> "correct the request";
      case Wire.E_NOT_FOUND -> "list the folder to see what is there";
      case Wire.E_EXISTS -> "choose another path, or allow replacing it";
      case Wire.E_NOT_A_FOLDER -> "name a folder";
      case Wire.E_IS_A_FOLDER -> "name a file";
      case Wire.E_NOT_EMPTY -> "remove it recursively, or empty it first";
      case Wire.E_DENIED -> "use a user with permission, or change the mode of the file";
      case Wire.E_OUTSIDE -> "use a path beneath the sandbox's workspace";
      case Wire.E_NOT_A_FILE -> "only regular files can be read and written";
      case Wire.E_NO_SPACE -> "remove files, or create the sandbox with a larger disk";
      case Wire.E_LIMIT -> "stay within the limit, or raise the limit";
      case Wire.E_UNSUPPORTED -> "use another provider or file system";
      case Wire.E_CANCELLED -> "retry if the cancellation was not intended";
      case Wire.E_EXEC_NOT_FOUND -> "check the name and PATH, or install the program";
      case Wire.E_EXEC_DENIED -> "make it executable (chmod +x)";
      case Wire.E_NO_SUCH_USER -> "name a user of the sandbox's /etc/passwd, or a number";
      case Wire.E_NO_SUCH_EXECUTION ->
          "list the executions; ended executions are kept for a limited time";
      case Wire.E_REFUSED -> "start a process that listens on that port";
      case Wire.E_BAD_ARCHIVE -> "create the archive without such entries";
      case Wire.E_TOO_MANY_LINKS -> "remove the loop of symbolic links in the path";
      case Wire.E_READ_ONLY -> "write to a folder that is not read-only";
      default -> "see the message; if the problem persists, destroy the sandbox";
    };
  }

  /** Shortens text from the agent and replaces control characters, because it is shown to users. */
  static String sanitize(String text) {
    String cut = text.length() > MESSAGE_MAX ? text.substring(0, MESSAGE_MAX) + "..." : text;
    return cut.replaceAll("\\p{Cntrl}", "?");
  }
}
