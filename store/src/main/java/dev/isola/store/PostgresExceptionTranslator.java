package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;

/** Translates PostgreSQL's SQLSTATE codes. */
record PostgresExceptionTranslator(String databaseName, Duration deadline)
    implements SqlExceptionTranslator {

  /**
   * Reported for a prepared statement whose result has other columns than before, because a newer
   * server has migrated the schema. The driver then prepares it again.
   */
  private static final String STALE_PLAN = "0A000";

  @Override
  public SandboxException translate(SQLException error, boolean committing) {
    if (Thread.currentThread().isInterrupted()) {
      return committing
          ? SqlExceptionTranslator.outcomeUnknown(databaseName, error)
          : SqlExceptionTranslator.cancelled(databaseName, error);
    }
    String state = Objects.requireNonNullElse(error.getSQLState(), "no SQLSTATE");
    String kind = state.substring(0, 2);
    if (state.equals(SchemaLock.NOT_OWNER)) {
      return Fault.of(
              ErrorCode.CONFLICT,
              "the ledger " + databaseName + " is now owned by another Isola server",
              "stop this server; the other one manages the sandboxes")
          .exception(error);
    }
    if (state.equals("53100")) {
      return SqlExceptionTranslator.diskFull(databaseName, error);
    }
    if (kind.equals("53")) {
      return Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the database of the ledger " + databaseName + " is out of resources (" + state + ")",
              "retry, or raise the limits of the database")
          .exception(error);
    }
    if (kind.equals("08") || (kind.equals("57") && !state.equals("57014")) || kind.equals("58")) {
      return committing
          ? SqlExceptionTranslator.outcomeUnknown(databaseName, error)
          : SqlExceptionTranslator.unreachable(databaseName, state, error);
    }
    if (isRetryable(error) || state.equals("57014") || state.equals("55P03") || kind.equals("25")) {
      return SqlExceptionTranslator.deadlineExceeded(databaseName, deadline, error);
    }
    if (kind.equals("28") || kind.equals("3D") || state.equals("42501")) {
      return Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the database of the ledger " + databaseName + " rejected the login (" + state + ")",
              "check the user, the password, the database name and the user's privileges")
          .exception(error);
    }
    return SqlExceptionTranslator.bug(databaseName, state, error);
  }

  /**
   * Tells whether the transaction was rolled back because of a conflict and can be retried. A
   * second attempt sees the sandbox that took a name first and reports it.
   */
  static boolean isRetryable(SQLException error) {
    String state = error.getSQLState();
    return "40001".equals(state)
        || "40P01".equals(state)
        || STALE_PLAN.equals(state)
        || isNameTaken(error);
  }

  private static boolean isNameTaken(SQLException error) {
    return "23505".equals(error.getSQLState())
        && Objects.requireNonNullElse(error.getMessage(), "").contains("sandbox_by_name");
  }
}
