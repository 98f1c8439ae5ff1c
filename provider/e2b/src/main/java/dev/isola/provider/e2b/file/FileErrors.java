package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.provider.e2b.http.HttpErrors;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Translates error output of programs in the sandbox by the system's message at the end of a line.
 */
record FileErrors(SandboxContext context) {
  private static final Map<String, ErrorCode> WORDS = new LinkedHashMap<>();

  static {
    WORDS.put("No such file or directory", ErrorCode.FILE_NOT_FOUND);
    WORDS.put("Directory nonexistent", ErrorCode.FILE_NOT_FOUND);
    WORDS.put("Not a directory", ErrorCode.NOT_A_FOLDER);
    WORDS.put("Is a directory", ErrorCode.IS_A_FOLDER);
    WORDS.put("Not a regular file", ErrorCode.NOT_A_FILE);
    WORDS.put("File exists", ErrorCode.FILE_EXISTS);
    WORDS.put("Directory not empty", ErrorCode.FOLDER_NOT_EMPTY);
    WORDS.put("Permission denied", ErrorCode.PERMISSION_DENIED);
    WORDS.put("Operation not permitted", ErrorCode.PERMISSION_DENIED);
    WORDS.put("Read-only file system", ErrorCode.PERMISSION_DENIED);
    WORDS.put("No space left on device", ErrorCode.DISK_FULL);
    WORDS.put("Disk quota exceeded", ErrorCode.DISK_FULL);
    WORDS.put("Operation not supported", ErrorCode.NOT_IMPLEMENTED);
    WORDS.put("python3: not found", ErrorCode.NOT_IMPLEMENTED);
    WORDS.put("Device or resource busy", ErrorCode.CONFLICT);
    WORDS.put("Text file busy", ErrorCode.CONFLICT);
  }

  SandboxException of(String what, String path, ScriptRunner.ScriptResult result) {
    List<String> lines = result.err().lines().filter(line -> !line.isBlank()).toList();
    String last = lines.isEmpty() ? "exit " + result.code() : lines.getLast();
    ErrorCode code = ErrorCode.INVALID_REQUEST;
    if (result.err().contains("invalid user") || result.err().contains("invalid group")) {
      code = ErrorCode.USER_NOT_FOUND;
    }
    for (Map.Entry<String, ErrorCode> word : WORDS.entrySet()) {
      if (last.endsWith(word.getKey())) {
        code = word.getValue();
      }
    }
    return of(
        code,
        what,
        path,
        HttpErrors.line(
            last.substring(last.lastIndexOf(": ") < 0 ? 0 : last.lastIndexOf(": ") + 2)));
  }

  SandboxException of(ErrorCode code, String what, String path, String why) {
    return context
        .fault(
            code,
            what + " " + HttpErrors.line(path) + ": " + why,
            switch (code) {
              case FILE_NOT_FOUND -> "list the folder to find existing paths";
              case PERMISSION_DENIED -> "change its mode or owner, or use another user";
              case DISK_FULL -> "remove files";
              case FILE_EXISTS -> "remove it first, or use another path";
              default -> "use another path";
            })
        .with("path", HttpErrors.line(path))
        .exception();
  }
}
