package dev.isola.store;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

/**
 * Ownership of a schema, the counterpart of {@link FolderLock}: by one server, or by all servers
 * that share it. Every session of an owner holds one advisory lock in shared mode. A new owner
 * needs the lock in exclusive mode, and therefore waits until all sessions of the previous owner
 * have ended; it then records its name. Each later session checks that name once, so an owner that
 * lost all its sessions and was replaced cannot open a new one. This guarantees a single owner at
 * no cost per transaction. Servers that share a schema have one name, {@value #SHARED}, and join
 * without the exclusive lock while that name is recorded.
 */
final class SchemaLock implements AutoCloseable {
  /** SQLSTATE raised in a new session of a process that no longer owns the schema. */
  static final String NOT_OWNER = "IS001";

  /** The sessions of a killed process end only when the server notices. */
  private static final Duration ACQUIRE_TIMEOUT = Duration.ofSeconds(3);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);
  private static final String TABLE = "schema_owner";
  private static final String SHARED = "several servers";

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
   * @param shared whether other servers may own it too
   * @throws dev.isola.spi.error.Conflict if another process owns the schema
   */
  static SchemaLock acquire(
      Connection session,
      String schema,
      String databaseName,
      boolean shared,
      Duration deadline,
      Preparation preparation)
      throws SQLException {
    SchemaLock lock =
        new SchemaLock(
            session,
            schema,
            shared ? SHARED : "pid " + ProcessHandle.current().pid() + " " + UUID.randomUUID());
    Duration timeout = deadline.compareTo(ACQUIRE_TIMEOUT) < 0 ? deadline : ACQUIRE_TIMEOUT;
    Deadline until = Deadline.in(timeout);
    boolean taken = false;
    try {
      taken =
          until.awaitUninterruptibly(
              POLL_INTERVAL,
              () -> (shared && lock.join(preparation)) || lock.replaceOwner(preparation));
      if (!taken) {
        throw refused(databaseName, lock.recordedOwner());
      }
      return lock;
    } finally {
      if (!taken) {
        lock.close();
      }
    }
  }

  /** Becomes the owner if no session of another one is left. */
  private boolean replaceOwner(Preparation preparation) throws SQLException {
    if (!call("pg_try_advisory_lock")) {
      return false;
    }
    prepare(preparation, this::recordOwner);
    Sql.list(session, "select pg_advisory_lock_shared(" + key() + ")", row -> true);
    boolean _ = call("pg_advisory_unlock");
    return true;
  }

  /** Joins the servers that share the schema, if there are any. One at a time migrates it. */
  private boolean join(Preparation preparation) throws SQLException {
    if (!call("pg_try_advisory_lock_shared")) {
      return false;
    }
    if (!recordedOwner().equals(SHARED)) {
      boolean _ = call("pg_advisory_unlock_shared");
      return false;
    }
    prepare(
        own -> {
          Sql.list(own, "select pg_advisory_xact_lock(" + key("migration") + ")", row -> true);
          preparation.run(own);
        },
        () -> {});
    return true;
  }

  private interface Step {
    void run() throws SQLException;
  }

  private void prepare(Preparation preparation, Step last) throws SQLException {
    session.setAutoCommit(false);
    preparation.run(session);
    last.run();
    session.commit();
    session.setAutoCommit(true);
  }

  /** Calls a function of the lock that returns whether it had an effect. */
  private boolean call(String function) throws SQLException {
    return Sql.one(
            session,
            "select case when " + function + "(" + key() + ") then 1 else 0 end as done",
            row -> row.flag("done"))
        .orElse(false);
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
    return key("owner");
  }

  private String key(String purpose) {
    return "hashtextextended('isola " + purpose + " " + schema + "', 0)";
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
    if (owner.equals(SHARED)) {
      return Fault.of(
              ErrorCode.CONFLICT,
              "the ledger " + databaseName + " is in use by Isola servers that share it",
              "set server.peer_url to join them, or use another schema for this server")
          .with("owner", owner)
          .exception();
    }
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
