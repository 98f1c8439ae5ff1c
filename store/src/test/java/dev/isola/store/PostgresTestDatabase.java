package dev.isola.store;

import dev.isola.spi.Secret;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Separate schemas on one server that runs until the JVM exits. */
public final class PostgresTestDatabase implements TestDatabase {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** Started on first use and stopped by its shutdown hook. */
  private static final class Running {
    private static final long ENOUGH_FOR_A_CLUSTER = 1L << 30;

    static final EmbeddedPostgres SERVER = start();

    /**
     * Creating a cluster syncs to disk many times, which takes up to a minute on a busy machine.
     */
    private static Path memoryOrDisk() throws IOException {
      Path memory = Path.of("/dev/shm");
      boolean roomy =
          Files.isWritable(memory)
              && Files.getFileStore(memory).getUsableSpace() > ENOUGH_FOR_A_CLUSTER;
      return roomy ? memory : Path.of(System.getProperty("java.io.tmpdir"));
    }

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder()
            .setDataDirectory(Files.createTempDirectory(memoryOrDisk(), "isola-postgres-"))
            .setPGStartupWait(Duration.ofSeconds(60))
            .start();
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
    return new LedgerConfig(
        server, LedgerConfig.DEFAULT_DEADLINE, LedgerConfig.DEFAULT_KEY_RETENTION);
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
