package dev.isola.store;

import dev.isola.spi.Secret;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The location and the settings of the ledger.
 *
 * @param deadline the maximum duration of a call
 * @param keyRetention how long an idempotency key stays bound
 */
public record LedgerConfig(Location location, Duration deadline, Duration keyRetention) {
  public static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(10);
  public static final Duration DEFAULT_KEY_RETENTION = Duration.ofHours(24);

  public LedgerConfig {
    if (deadline.compareTo(Duration.ofMillis(250)) < 0) {
      // HikariCP enforces this minimum and would replace a smaller value.
      throw new IllegalArgumentException("the deadline must be at least 250 ms: " + deadline);
    }
    if (keyRetention.isNegative()) {
      throw new IllegalArgumentException("the key retention must not be negative: " + keyRetention);
    }
  }

  /** The location of a ledger. */
  public sealed interface Location {}

  /** SQLite in a folder, which is owned by one process at a time and created if missing. */
  public record Folder(Path folder) implements Location {}

  /**
   * PostgreSQL.
   *
   * @param url a JDBC URL without user and password
   * @param schema the schema of the tables, created if missing; each installation needs its own
   * @param connections the maximum number of open connections
   * @param shared whether several servers use the schema at the same time
   */
  public record Server(
      String url, String user, Secret password, String schema, int connections, boolean shared)
      implements Location {
    public static final String DEFAULT_SCHEMA = "isola";
    public static final int DEFAULT_CONNECTIONS = 8;

    /** Creates the location of a ledger that one server has to itself. */
    public Server(String url, String user, Secret password, String schema, int connections) {
      this(url, user, password, schema, connections, false);
    }

    /** Returns this location for several servers that use it at the same time. */
    public Server asShared() {
      return new Server(url, user, password, schema, connections, true);
    }

    public Server {
      if (!schema.matches("[a-z][a-z0-9_]{0,62}")) {
        throw new IllegalArgumentException(
            "a schema name has 1 to 63 lower-case letters, digits and _: " + schema);
      }
      if (connections < 1) {
        throw new IllegalArgumentException("at least one connection is required: " + connections);
      }
    }
  }

  public static LedgerConfig sqlite(Path folder) {
    return new LedgerConfig(new Folder(folder), DEFAULT_DEADLINE, DEFAULT_KEY_RETENTION);
  }

  public static LedgerConfig postgres(String url, String user, Secret password) {
    return new LedgerConfig(
        new Server(url, user, password, Server.DEFAULT_SCHEMA, Server.DEFAULT_CONNECTIONS),
        DEFAULT_DEADLINE,
        DEFAULT_KEY_RETENTION);
  }

  public LedgerConfig withDeadline(Duration limit) {
    return new LedgerConfig(location, limit, keyRetention);
  }

  public LedgerConfig withKeyRetention(Duration time) {
    return new LedgerConfig(location, deadline, time);
  }
}
