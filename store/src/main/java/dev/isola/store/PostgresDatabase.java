package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** PostgreSQL through a pool of connections. */
final class PostgresDatabase implements Database {
  private static final int MAX_TRIES = 8;
  private static final long RETRY_PAUSE_NANOS = 2_000_000;

  private final HikariDataSource pool;
  private final String place;
  private final PostgresFailures failures;
  private final Duration deadline;

  private PostgresDatabase(HikariDataSource pool, String place, Duration deadline) {
    this.pool = pool;
    this.place = place;
    this.failures = new PostgresFailures(place, deadline);
    this.deadline = deadline;
  }

  static PostgresDatabase open(
      LedgerConfig.Server server, Duration deadline, Migrations migrations) {
    String place = place(server);
    PostgresDatabase database =
        new PostgresDatabase(pool(server, deadline, place), place, deadline);
    boolean opened = false;
    try {
      database.write(c -> database.prepare(c, server.schema(), migrations));
      opened = true;
      return database;
    } finally {
      if (!opened) {
        database.close();
      }
    }
  }

  /** Names the database without options and users, for messages. */
  private static String place(LedgerConfig.Server server) {
    String address =
        server
            .url()
            .replaceFirst("^jdbc:", "")
            .replaceFirst("\\?.*", "")
            .replaceFirst("//[^/]*@", "//");
    return address + ", schema " + server.schema();
  }

  private static HikariDataSource pool(
      LedgerConfig.Server server, Duration deadline, String place) {
    long millis = deadline.toMillis();
    HikariConfig config = new HikariConfig();
    config.setPoolName("isola-ledger");
    config.setJdbcUrl(server.url());
    config.setUsername(server.user());
    config.setPassword(new String(server.password().reveal(), UTF_8));
    config.setMaximumPoolSize(server.connections());
    config.setMinimumIdle(1);
    config.setConnectionTimeout(millis);
    config.setInitializationFailTimeout(1);
    // A server may have been told to answer before it has written; what is stricter stays.
    config.setConnectionInitSql(
        "select set_config('synchronous_commit', 'on', false)"
            + " where current_setting('synchronous_commit') in ('off', 'local');"
            + ("set search_path to " + server.schema() + ";")
            + ("set statement_timeout to " + millis + ";")
            + ("set lock_timeout to " + millis + ";")
            + ("set idle_in_transaction_session_timeout to " + 2 * millis));
    config.addDataSourceProperty("ApplicationName", "isola " + ProcessHandle.current().pid());
    config.addDataSourceProperty("connectTimeout", Math.max(1, deadline.toSeconds()));
    // The server gives up first and says so; this is for one that does not answer at all.
    config.addDataSourceProperty("socketTimeout", deadline.toSeconds() + 5);
    config.addDataSourceProperty("tcpKeepAlive", true);
    // Details have the values of rows.
    config.addDataSourceProperty("logServerErrorDetail", false);
    try {
      return new HikariDataSource(config);
    } catch (HikariPool.PoolInitializationException e) {
      throw e.getCause() instanceof SQLException cause
          ? new PostgresFailures(place, deadline).of(cause, false)
          : Failures.unreachable(place, "no connection", e);
    } catch (RuntimeException e) {
      // A URL that the driver does not take; its text may have a password in it.
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the ledger's URL is not one of PostgreSQL",
              "write it as jdbc:postgresql://HOST:PORT/DATABASE")
          .exception();
    }
  }

  private boolean prepare(Connection c, String schema, Migrations migrations) throws SQLException {
    // Servers that start together come in one after the other.
    Sql.list(c, "select pg_advisory_xact_lock(hashtext('isola ' || ?))", row -> true, schema);
    if (Sql.one(c, "select 1 from pg_namespace where nspname = ?", row -> true, schema).isEmpty()) {
      Sql.update(c, "create schema " + schema);
    }
    List<String> tables =
        Sql.list(
            c,
            "select tablename from pg_tables where schemaname = ?",
            row -> row.text("tablename"),
            schema);
    if (!tables.isEmpty() && !tables.contains(Migrations.TABLE)) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              place + ", has tables of another program and was left as it is",
              "name another schema")
          .exception();
    }
    migrations.apply(c, place);
    return true;
  }

  @Override
  public Dialect dialect() {
    return Dialect.POSTGRESQL;
  }

  @Override
  public <T extends @Nullable Object> T read(Work<T> work) {
    try (Connection connection = connection()) {
      return work.run(connection);
    } catch (SQLException e) {
      throw failures.of(e, false);
    }
  }

  @Override
  public <T extends @Nullable Object> T write(Work<T> work) {
    long end = System.nanoTime() + deadline.toNanos();
    for (int tries = 1; ; tries++) {
      Step step = new Step();
      try (Connection connection = connection()) {
        return step.run(connection, work);
      } catch (SQLException e) {
        boolean again =
            PostgresFailures.isLostRace(e) && tries < MAX_TRIES && System.nanoTime() - end < 0;
        if (!again) {
          throw failures.of(e, step.committing);
        }
        // The winner goes first; without a pause the two may meet in the same way again.
        LockSupport.parkNanos(tries * RETRY_PAUSE_NANOS);
      }
    }
  }

  /** One try of a transaction. */
  private static final class Step {
    boolean committing;

    <T extends @Nullable Object> T run(Connection connection, Work<T> work) throws SQLException {
      connection.setAutoCommit(false);
      boolean finished = false;
      try {
        T result = work.run(connection);
        committing = true;
        connection.commit();
        finished = true;
        return result;
      } catch (Bound.Carried e) {
        throw e.error();
      } finally {
        if (!finished) {
          rollback(connection);
        }
      }
    }

    private static void rollback(Connection connection) {
      try {
        connection.rollback();
      } catch (SQLException e) {
        // The connection is broken; the server rolls back by itself.
      }
    }
  }

  private Connection connection() throws SQLException {
    if (pool.isClosed()) {
      throw Failures.closed(place);
    }
    try {
      return pool.getConnection();
    } catch (SQLTransientConnectionException e) {
      throw noConnection(e);
    }
  }

  private SandboxException noConnection(SQLTransientConnectionException error) {
    if (Thread.currentThread().isInterrupted()) {
      return Failures.cancelled(place, error);
    }
    // The pool's own error only says that it waited; the last failure to connect says why.
    return error.getCause() instanceof SQLException cause
        ? failures.of(cause, false)
        : Failures.tooSlow(place, deadline, error);
  }

  @Override
  public void close() {
    pool.close();
  }
}
