package dev.isola.store;

import dev.isola.spi.Secret;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/** Schemas of their own on one server that lives as long as the JVM. */
final class PostgresTestDatabase implements TestDatabase {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** Started by who first asks for it; ended by its own shutdown hook. */
  private static final class Running {
    static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder().start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  static EmbeddedPostgres server() {
    return Running.SERVER;
  }

  @Override
  public LedgerConfig fresh() {
    LedgerConfig.Server server =
        new LedgerConfig.Server(
            server().getJdbcUrl("postgres", "postgres").replaceFirst("\\?.*", ""),
            "postgres",
            Secret.of("postgres"),
            "ledger" + COUNT.incrementAndGet(),
            LedgerConfig.Server.DEFAULT_CONNECTIONS);
    return new LedgerConfig(server, LedgerConfig.DEFAULT_DEADLINE, LedgerConfig.DEFAULT_KEEP_KEYS);
  }

  static String schema(LedgerConfig config) {
    if (config.location() instanceof LedgerConfig.Server server) {
      return server.schema();
    }
    throw new IllegalArgumentException("not on a server");
  }

  @Override
  public void remove(LedgerConfig config) {
    try {
      execute("drop schema if exists " + schema(config) + " cascade");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  static void execute(String sql) throws SQLException {
    try (Connection connection = server().getPostgresDatabase().getConnection()) {
      Sql.update(connection, sql);
    }
  }
}
