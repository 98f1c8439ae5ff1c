package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** PostgreSQL with a connection pool. */
final class PostgresDatabase implements Database {
  private static final int MAX_TRIES = 8;
  private static final long RETRY_PAUSE_NANOS = 2_000_000;

  /** A renewal that takes longer comes too late for a lease of the default duration. */
  private static final Duration LEASE_DEADLINE = Duration.ofSeconds(3);

  /** How much later than the database the driver gives up on a statement, in seconds. */
  private static final long MAX_SOCKET_MARGIN = 5;

  private final SchemaLock lock;
  private final HikariDataSource pool;
  private final String databaseName;
  private final PostgresExceptionTranslator failures;
  private final Duration deadline;
  private final Optional<PostgresDatabase> leases;

  private PostgresDatabase(
      SchemaLock lock,
      HikariDataSource pool,
      String databaseName,
      Duration deadline,
      Optional<PostgresDatabase> leases) {
    this.leases = leases;
    this.lock = lock;
    this.pool = pool;
    this.databaseName = databaseName;
    this.failures = new PostgresExceptionTranslator(databaseName, deadline);
    this.deadline = deadline;
  }

  static PostgresDatabase open(
      LedgerConfig.Server server, Duration deadline, Migrations migrations) {
    String databaseName = databaseName(server);
    SchemaLock lock = lock(server, deadline, databaseName, migrations);
    boolean opened = false;
    try {
      HikariDataSource pool =
          pool("isola-ledger", server, server.connections(), deadline, databaseName, lock);
      try {
        Optional<PostgresDatabase> leases =
            server.shared()
                ? Optional.of(leases(server, deadline, databaseName, lock))
                : Optional.empty();
        opened = true;
        return new PostgresDatabase(lock, pool, databaseName, deadline, leases);
      } finally {
        if (!opened) {
          pool.close();
        }
      }
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  private static PostgresDatabase leases(
      LedgerConfig.Server server, Duration deadline, String databaseName, SchemaLock lock) {
    Duration limit = deadline.compareTo(LEASE_DEADLINE) < 0 ? deadline : LEASE_DEADLINE;
    HikariDataSource pool = pool("isola-lease", server, 1, limit, databaseName, lock);
    return new PostgresDatabase(lock, pool, databaseName, limit, Optional.empty());
  }

  private static SchemaLock lock(
      LedgerConfig.Server server, Duration deadline, String databaseName, Migrations migrations) {
    Properties properties = new Properties();
    properties.setProperty("user", server.user());
    properties.setProperty("password", new String(server.password().reveal(), UTF_8));
    driverProperties(deadline).forEach((name, value) -> properties.put(name, value.toString()));
    try {
      Connection session = driver(server.url()).connect(server.url(), properties);
      return SchemaLock.acquire(
          session,
          server.schema(),
          databaseName,
          server.shared(),
          deadline,
          own -> {
            try (Statement statement = own.createStatement()) {
              statement.execute(sessionSettings(deadline));
            }
            prepare(own, server.schema(), databaseName, migrations);
          });
    } catch (SQLException e) {
      throw new PostgresExceptionTranslator(databaseName, deadline).translate(e, false);
    }
  }

  /** Returns the name of the database for messages, without URL options and user. */
  private static String databaseName(LedgerConfig.Server server) {
    String address =
        server
            .url()
            .replaceFirst("^jdbc:", "")
            .replaceFirst("\\?.*", "")
            .replaceFirst("//[^/]*@", "//");
    return address + ", schema " + server.schema();
  }

  private static HikariDataSource pool(
      String name,
      LedgerConfig.Server server,
      int connections,
      Duration deadline,
      String databaseName,
      SchemaLock lock) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setJdbcUrl(server.url());
    config.setUsername(server.user());
    config.setPassword(new String(server.password().reveal(), UTF_8));
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(deadline.toMillis());
    config.setInitializationFailTimeout(1);
    config.setConnectionInitSql(
        sessionSettings(deadline)
            + ("; set search_path to " + server.schema() + "; ")
            + lock.sessionSql());
    driverProperties(deadline).forEach(config::addDataSourceProperty);
    try {
      return new HikariDataSource(config);
    } catch (HikariPool.PoolInitializationException e) {
      SQLException cause = sqlCause(e);
      throw cause != null
          ? new PostgresExceptionTranslator(databaseName, deadline).translate(cause, false)
          : SqlExceptionTranslator.unreachable(databaseName, "no connection", e);
    } catch (RuntimeException e) {
      // The driver rejected the URL, whose text may contain a password.
      throw wrongUrl();
    }
  }

  /**
   * Looks up the driver separately: the error of a connection attempt contains the URL and may
   * therefore contain a password.
   */
  private static Driver driver(String url) {
    try {
      if (url.startsWith("jdbc:postgresql:")) {
        return DriverManager.getDriver(url);
      }
    } catch (SQLException e) {
      throw wrongUrl();
    }
    throw wrongUrl();
  }

  private static SandboxException wrongUrl() {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the ledger's URL is not a valid PostgreSQL URL",
            "use the form jdbc:postgresql://HOST:PORT/DATABASE")
        .exception();
  }

  private static String sessionSettings(Duration deadline) {
    long millis = deadline.toMillis();
    // The server may be configured to acknowledge commits before they are on disk; a stricter
    // setting stays in effect.
    return "select set_config('synchronous_commit', 'on', false)"
        + " where current_setting('synchronous_commit') in ('off', 'local');"
        + ("set statement_timeout to " + millis + ";")
        + ("set lock_timeout to " + millis + ";")
        + ("set idle_in_transaction_session_timeout to " + 2 * millis + ";")
        // Limits how long the sessions of a failed machine keep their lock.
        + "set tcp_keepalives_idle to 10; set tcp_keepalives_interval to 5;"
        + " set tcp_keepalives_count to 3";
  }

  private static Map<String, Object> driverProperties(Duration deadline) {
    return Map.of(
        "ApplicationName",
        "isola " + ProcessHandle.current().pid(),
        "connectTimeout",
        Math.max(1, deadline.toSeconds()),
        // The statement timeout of the server fires first and gives a reason; the socket timeout
        // covers a server that does not respond at all.
        "socketTimeout",
        deadline.toSeconds() + Math.min(MAX_SOCKET_MARGIN, Math.max(1, deadline.toSeconds() / 2)),
        "tcpKeepAlive",
        true,
        // The error detail contains column values.
        "logServerErrorDetail",
        false);
  }

  private static void prepare(
      Connection c, String schema, String databaseName, Migrations migrations) throws SQLException {
    if (Sql.one(c, "select 1 from pg_namespace where nspname = ?", row -> true, schema).isEmpty()) {
      Sql.update(c, "create schema " + schema);
    }
    Sql.update(c, "set search_path to " + schema);
    List<String> tables =
        Sql.list(
            c,
            "select tablename from pg_tables where schemaname = ?",
            row -> row.text("tablename"),
            schema);
    if (!tables.isEmpty() && !tables.contains(Migrations.TABLE)) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              databaseName + ", contains tables of another program; it is unchanged",
              "use another schema")
          .exception();
    }
    migrations.apply(c, databaseName);
    Sql.update(c, "create sequence if not exists event_position");
  }

  @Override
  public Dialect dialect() {
    return Dialect.POSTGRESQL;
  }

  @Override
  public <T extends @Nullable Object> T read(SqlWork<T> work) {
    try (Connection connection = connection()) {
      return work.run(connection);
    } catch (SQLException e) {
      throw failures.translate(e, false);
    }
  }

  @Override
  public <T extends @Nullable Object> T write(SqlWork<T> work) {
    Deadline end = Deadline.in(deadline);
    for (int tries = 1; ; tries++) {
      TransactionAttempt step = new TransactionAttempt();
      try (Connection connection = connection()) {
        return step.run(connection, work);
      } catch (SQLException e) {
        boolean again =
            PostgresExceptionTranslator.isRetryable(e) && tries < MAX_TRIES && !end.over();
        if (!again) {
          throw failures.translate(e, step.committing);
        }
        // Lets the winning transaction finish; without a pause both may conflict again.
        LockSupport.parkNanos(tries * RETRY_PAUSE_NANOS);
      }
    }
  }

  /** One attempt to run a transaction. */
  private static final class TransactionAttempt {
    boolean committing;

    <T extends @Nullable Object> T run(Connection connection, SqlWork<T> work) throws SQLException {
      connection.setAutoCommit(false);
      boolean finished = false;
      try {
        Failpoint.LEDGER_BEGUN.reach();
        T result = work.run(connection);
        committing = true;
        Failpoint.LEDGER_BEFORE_COMMIT.reach();
        connection.commit();
        Failpoint.LEDGER_AFTER_COMMIT.reach();
        finished = true;
        return result;
      } catch (TransactionDatabase.UncheckedSqlException e) {
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
        // The connection is broken; the server rolls back on its own.
      }
    }
  }

  private Connection connection() throws SQLException {
    if (pool.isClosed()) {
      throw SqlExceptionTranslator.closed(databaseName);
    }
    try {
      return pool.getConnection();
    } catch (SQLTransientConnectionException e) {
      throw noConnection(e);
    }
  }

  private SandboxException noConnection(SQLTransientConnectionException error) {
    if (Thread.currentThread().isInterrupted()) {
      return SqlExceptionTranslator.cancelled(databaseName, error);
    }
    // The pool's own error only reports a timeout; the last connection failure has the reason.
    SQLException cause = sqlCause(error);
    return cause != null
        ? failures.translate(cause, false)
        : SqlExceptionTranslator.deadlineExceeded(databaseName, deadline, error);
  }

  /**
   * Returns the database error behind an error of the pool, which wraps the failures of sessions
   * that are being set up.
   */
  private static @Nullable SQLException sqlCause(Throwable error) {
    Throwable cause = error.getCause();
    while (cause != null && !(cause instanceof SQLException)) {
      cause = cause.getCause();
    }
    return (SQLException) cause;
  }

  @Override
  public Database forLeases() {
    return leases.isPresent() ? leases.get() : this;
  }

  @Override
  public void close() {
    leases.ifPresent(one -> one.pool.close());
    pool.close();
    lock.close();
  }
}
