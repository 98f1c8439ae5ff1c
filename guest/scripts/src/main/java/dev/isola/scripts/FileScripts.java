package dev.isola.scripts;

import dev.isola.spi.error.ErrorCode;
import java.util.Locale;
import java.util.Optional;

/** Scripts for file operations that have no verb. Their exit codes tell what failed. */
public final class FileScripts {
  private static final int MISSING = 40;
  private static final int EXISTS = 41;
  private static final int IS_FOLDER = 42;
  private static final int NOT_FOLDER = 43;
  private static final int NOT_EMPTY = 44;
  private static final int FAILED = 45;
  private static final int INTO_ITSELF = 46;

  private static final String REQUIRE = "[ -e \"$1\" ] || [ -L \"$1\" ] || exit 40\n";

  public static final String STAT =
      REQUIRE
          + """
          [ -z "$2" ] || [ -e "$1" ] || exit 40
          if [ -n "$2" ]; then readlink -fn -- "$1"; else printf %s "$1"; fi
          printf '\\0'
          stat $2 -c '%F/%a/%s/%u/%g/%U/%G/%Y' -- "$1" || exit 45
          [ ! -L "$1" ] || [ -n "$2" ] || readlink -- "$1"
          """;

  public static final String PUT =
      """
      parent=${2%/*}
      [ ! -d "$2" ] || exit 42
      mkdir -p -- "${parent:-/}" || exit 45
      case $3 in
      append) cat -- "$1" >>"$2" && rm -f -- "$1" || exit 45 ;;
      new) { [ ! -e "$2" ] && [ ! -L "$2" ]; } || exit 41
        [ -n "$4" ] || chmod 644 -- "$1"
        mv -- "$1" "$2" || exit 45 ;;
      *)
        if [ -e "$2" ]; then
          cat -- "$1" >"$2" && rm -f -- "$1" || exit 45
        else
          chmod 644 -- "$1" && mv -- "$1" "$2" || exit 45
        fi ;;
      esac
      [ -z "$4" ] || chmod "$4" -- "$2" || exit 45
      """;

  public static final String DISCARD = "rm -f -- \"$1\"";

  public static final String MAKE_FOLDER =
      """
      [ -d "$1" ] && exit 0
      [ ! -e "$1" ] || exit 41
      mkdir -p -- "$1" && chmod "$2" -- "$1" || exit 45
      """;

  /** The root is refused: between mounts, mv would copy it and then remove the original. */
  public static final String MOVE =
      REQUIRE
          + """
          if [ -d "$1" ] && [ ! -L "$1" ]; then # mv would copy / into itself
            from=$(readlink -f -- "$1")
            case $2/ in "${from%/}/"?*) exit 46 ;; esac
          fi
          if [ -e "$2" ] || [ -L "$2" ]; then
            [ -n "$3" ] || exit 41
            [ ! -d "$2" ] || [ -L "$2" ] || rmdir -- "$2" || exit 44
          fi
          mv -fT -- "$1" "$2" || exit 45
          """;

  public static final String REMOVE =
      REQUIRE
          + """
          if [ -n "$2" ]; then
            rm -rf -- "$1" || exit 45
          elif [ -d "$1" ] && [ ! -L "$1" ]; then
            [ -z "$(ls -A -- "$1")" ] || exit 44
            rmdir -- "$1" || exit 45
          else
            rm -f -- "$1" || exit 45
          fi
          """;

  public static final String CHANGE = REQUIRE + "\"$2\" \"$3\" \"$1\" || exit 45";

  public static final String LINK =
      """
      { [ ! -e "$1" ] && [ ! -L "$1" ]; } || exit 41
      ln -s -- "$2" "$1" || exit 45
      """;

  private FileScripts() {}

  /** Returns the error of an exit code; empty if it is not of a script. */
  public static Optional<ErrorCode> code(int exitCode, String error) {
    return Optional.ofNullable(
        switch (exitCode) {
          case MISSING -> ErrorCode.FILE_NOT_FOUND;
          case EXISTS -> ErrorCode.FILE_EXISTS;
          case IS_FOLDER -> ErrorCode.IS_A_FOLDER;
          case NOT_FOLDER -> ErrorCode.NOT_A_FOLDER;
          case NOT_EMPTY -> ErrorCode.FOLDER_NOT_EMPTY;
          case INTO_ITSELF -> ErrorCode.INVALID_REQUEST;
          case FAILED -> byMessage(error.toLowerCase(Locale.ROOT));
          default -> null;
        });
  }

  private static ErrorCode byMessage(String error) {
    if (error.contains("permission denied") || error.contains("read-only")) {
      return ErrorCode.PERMISSION_DENIED;
    }
    if (error.contains("no space") || error.contains("quota exceeded")) {
      return ErrorCode.DISK_FULL;
    }
    return error.contains("not a directory")
        ? ErrorCode.NOT_A_FOLDER
        : error.contains("no such file") ? ErrorCode.FILE_NOT_FOUND : ErrorCode.INVALID_REQUEST;
  }
}
