package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Translates SQLite's result codes. */
record SqliteExceptionTranslator(Path file, Duration deadline) implements SqlExceptionTranslator {

  /** The index of the write-ahead log could not be extended. */
  private static final int IOERR_SHMSIZE = 10 | 19 << 8;

  /** A write failed for another reason than a full file system, such as a quota. */
  private static final int IOERR_WRITE = 10 | 3 << 8;

  /** More than a page and its header. */
  private static final int PAGES = 64 << 10;

  /** Returns whether there was no space; nothing was written then, even at a commit. */
  boolean isDiskFull(SQLException error) {
    if (!(error instanceof SQLiteException sqlite)) {
      return false;
    }
    int code = sqlite.getResultCode().code;
    return (code & 0xff) == 13
        || code == IOERR_SHMSIZE
        || (code == IOERR_WRITE && DiskSpace.isExhausted(file.resolveSibling("."), PAGES));
  }

  @Override
  public SandboxException translate(SQLException error, boolean committing) {
    if (isDiskFull(error)) {
      return SqlExceptionTranslator.diskFull(databaseName(), error);
    }
    if (!(error instanceof SQLiteException sqlite)) {
      return SqlExceptionTranslator.bug(databaseName(), "a driver error", error);
    }
    SQLiteErrorCode code = sqlite.getResultCode();
    // The low byte is the primary result code; the other bits are the extended code.
    return switch (code.code & 0xff) {
      case 5, 6, 9 -> SqlExceptionTranslator.deadlineExceeded(databaseName(), deadline, error);
      case 11, 26 -> damaged(code.name(), error);
      case 10, 14 ->
          committing
              ? SqlExceptionTranslator.outcomeUnknown(databaseName(), error)
              : SqlExceptionTranslator.unreachable(databaseName(), code.name(), error);
      case 3, 8, 23 -> notAllowed(code.name(), error);
      default ->
          committing
              ? SqlExceptionTranslator.outcomeUnknown(databaseName(), error)
              : SqlExceptionTranslator.bug(databaseName(), code.name(), error);
    };
  }

  String databaseName() {
    return file.toString();
  }

  SandboxException damaged(String how, @org.jspecify.annotations.Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INTERNAL,
            "the ledger " + file + " is damaged (" + how + "); the file is unchanged",
            "restore a backup, or move the file away to start with an empty ledger")
        .exception(cause);
  }

  private SandboxException notAllowed(String code, Throwable cause) {
    return Fault.of(
            ErrorCode.PERMISSION_DENIED,
            "the ledger " + file + " is not writable (" + code + ")",
            "grant the server's user write permission on the file and its folder")
        .exception(cause);
  }
}
