package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * Exclusive ownership of a schema, the counterpart of {@link FolderLock}. Every session of the
 * owner holds one advisory lock in shared mode. A new owner needs the lock in exclusive mode, and
 * therefore waits until all sessions of the previous owner have ended; it then records its name.
 * Each later session checks that name once, so an owner that lost all its sessions and was replaced
 * cannot open a new one. This guarantees a single writer at no cost per transaction.
 */
final class SchemaLock implements AutoCloseable {
  /** SQLSTATE raised in a new session of a process that no longer owns the schema. */
  static final String NOT_OWNER = "IS001";

  /** The sessions of a killed process end only when the server notices. */
  private static final Duration ACQUIRE_TIMEOUT = Duration.ofSeconds(3);

  private static final long POLL_NANOS = 20_000_000;
  private static final String TABLE = "schema_owner";

  private final Connection session;
  private final String schema;
  private final String owner;

  private SchemaLock(Connection session, String schema, String owner) {
    this.session = session;
    this.schema = schema;
    this.owner = owner;
  }

  /** Migrates the schema while the lock is held exclusively. */
  interface Preparation {
    void run(Connection session) throws SQLException;
  }

  /**
   * Acquires the schema.
   *
   * @param session a session that the lock owns from now on
   * @throws dev.isola.spi.error.Conflict if another process owns the schema
   */
  static SchemaLock acquire(
      Connection session,
      String schema,
      String databaseName,
      Duration deadline,
      Preparation preparation)
      throws SQLException {
    SchemaLock lock =
        new SchemaLock(
            session, schema, "pid " + ProcessHandle.current().pid() + " " + UUID.randomUUID());
    boolean taken = false;
    try {
      lock.acquireExclusively(
          databaseName, deadline.compareTo(ACQUIRE_TIMEOUT) < 0 ? deadline : ACQUIRE_TIMEOUT);
      session.setAutoCommit(false);
      preparation.run(session);
      lock.recordOwner();
      session.commit();
      session.setAutoCommit(true);
      Sql.list(session, "select pg_advisory_lock_shared(" + lock.key() + ")", row -> true);
      Sql.list(session, "select pg_advisory_unlock(" + lock.key() + ")", row -> true);
      taken = true;
      return lock;
    } finally {
      if (!taken) {
        lock.close();
      }
    }
  }

  private void acquireExclusively(String databaseName, Duration timeout) throws SQLException {
    long until = System.nanoTime() + timeout.toNanos();
    while (!Sql.one(
            session,
            "select case when pg_try_advisory_lock(" + key() + ") then 1 else 0 end as taken",
            row -> row.number("taken") == 1)
        .orElse(false)) {
      if (System.nanoTime() - until > 0) {
        throw refused(databaseName, recordedOwner());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private void recordOwner() throws SQLException {
    Sql.update(session, "create table if not exists " + table() + " (owner text not null)");
    Sql.update(session, "delete from " + table());
    Sql.update(session, "insert into " + table() + " (owner) values (?)", owner);
  }

  private String recordedOwner() throws SQLException {
    boolean made =
        Sql.one(
                session,
                "select 1 from pg_tables where schemaname = ? and tablename = ?",
                row -> true,
                schema,
                TABLE)
            .isPresent();
    return made
        ? Sql.one(session, "select owner from " + table(), row -> row.text("owner"))
            .orElse("unknown")
        : "unknown";
  }

  private String table() {
    return schema + "." + TABLE;
  }

  private String key() {
    return "hashtextextended('isola owner " + schema + "', 0)";
  }

  /** Returns the SQL that initializes a session of the owner and fails for any other process. */
  String sessionSql() {
    return "select pg_advisory_lock_shared("
        + key()
        + "); do $$ begin if not exists (select 1 from "
        + table()
        + " where owner = '"
        + owner
        + "') then raise exception 'another owner' using errcode = '"
        + NOT_OWNER
        + "'; end if; end $$";
  }

  private static SandboxException refused(String databaseName, String owner) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the ledger " + databaseName + " is in use by another Isola server, " + owner,
            "stop the other server, or use another schema for this one")
        .with("owner", owner)
        .exception();
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (SQLException e) {
      // The session is broken; the server has released the lock.
    }
  }
}
