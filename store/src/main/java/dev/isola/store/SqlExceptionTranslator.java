package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Translates database errors into exceptions that a caller can act on. */
interface SqlExceptionTranslator {

  /**
   * Returns the exception for {@code error}.
   *
   * @param committing whether the error occurred during commit. The transaction may then have taken
   *     effect, unless the database reports that it did not
   */
  SandboxException translate(SQLException error, boolean committing);

  static SandboxException outcomeUnknown(String databaseName, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            "the ledger " + databaseName + " did not confirm whether the write was committed",
            "read the entry before retrying the write")
        .exception(cause);
  }

  static SandboxException diskFull(String databaseName, @Nullable SQLException cause) {
    return Fault.of(
            ErrorCode.DISK_FULL,
            "the disk of the ledger " + databaseName + " is full; nothing was written",
            "free disk space, for example by destroying sandboxes or removing snapshots, which work"
                + " on a full disk too; everything else then continues without a restart")
        .with("resource", "disk")
        .exception(cause);
  }

  static SandboxException deadlineExceeded(
      String databaseName, Duration deadline, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the ledger "
                + databaseName
                + " did not complete the call within "
                + deadline.toMillis()
                + " ms; nothing was written",
            "retry, and check for a slow disk or too many concurrent writers")
        .exception(cause);
  }

  static SandboxException cancelled(String databaseName, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.CANCELLED,
            "the call to the ledger " + databaseName + " was interrupted; nothing was written",
            "")
        .exception(cause);
  }

  static SandboxException closed(String databaseName) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the ledger " + databaseName + " is closed",
            "open the ledger again")
        .exception();
  }

  static SandboxException unreachable(String databaseName, String code, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the ledger " + databaseName + " is unavailable (" + code + ")",
            "check that the database is running and reachable")
        .exception(cause);
  }

  static SandboxException bug(String databaseName, String code, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INTERNAL,
            "the ledger " + databaseName + " rejected a statement (" + code + ")",
            "report this with the server's log")
        .exception(cause);
  }
}
