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
 * Says that a schema is ours, as {@link FolderLock} does of a folder. Every session of an owner
 * holds one advisory lock of the server together with the others of that owner; who wants to become
 * the owner needs it alone, and so needs all sessions of the one before to be gone. Then it writes
 * its name. A session that is opened later looks for that name once: an owner that lost all its
 * sessions, and was followed by another, gets no new one. So nobody writes beside the owner, and a
 * transaction costs nothing more.
 */
final class SchemaLock implements AutoCloseable {
  /** What a session ends with that is opened for who is not the owner any more. */
  static final String NOT_OWNER = "IS001";

  /** The sessions of a process that was just killed end when the server notices. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private static final long LOOK_AGAIN_NANOS = 20_000_000;
  private static final String TABLE = "schema_owner";

  private final Connection session;
  private final String schema;
  private final String owner;

  private SchemaLock(Connection session, String schema, String owner) {
    this.session = session;
    this.schema = schema;
    this.owner = owner;
  }

  /** Brings the schema up to date; run by who has it alone. */
  interface Preparation {
    void run(Connection session) throws SQLException;
  }

  /**
   * Takes the schema.
   *
   * @param session belongs to the lock from now on
   * @throws dev.isola.spi.error.Conflict when somebody else has it
   */
  static SchemaLock acquire(
      Connection session, String schema, String place, Duration deadline, Preparation preparation)
      throws SQLException {
    SchemaLock lock =
        new SchemaLock(
            session, schema, "pid " + ProcessHandle.current().pid() + " " + UUID.randomUUID());
    boolean taken = false;
    try {
      lock.acquireExclusively(place, deadline.compareTo(PATIENCE) < 0 ? deadline : PATIENCE);
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

  private void acquireExclusively(String place, Duration patience) throws SQLException {
    long until = System.nanoTime() + patience.toNanos();
    while (!Sql.one(
            session,
            "select case when pg_try_advisory_lock(" + key() + ") then 1 else 0 end as taken",
            row -> row.number("taken") == 1)
        .orElse(false)) {
      if (System.nanoTime() - until > 0) {
        throw refused(place, recordedOwner());
      }
      LockSupport.parkNanos(LOOK_AGAIN_NANOS);
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

  /** Returns what a session of the owner begins with; it fails for anybody else. */
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

  private static SandboxException refused(String place, String owner) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the ledger " + place + " belongs to another Isola server, " + owner,
            "stop that one, or give this one a schema of its own")
        .with("owner", owner)
        .exception();
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (SQLException e) {
      // It was broken; the server has let go of the lock by itself.
    }
  }
}
