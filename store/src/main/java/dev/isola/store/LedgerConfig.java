package dev.isola.store;

import dev.isola.spi.Secret;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where the ledger is and how it behaves.
 *
 * @param deadline how long a call may take
 * @param keepKeys how long an idempotency key stays bound
 */
public record LedgerConfig(Location location, Duration deadline, Duration keyRetention) {
  public static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(10);
  public static final Duration DEFAULT_KEY_RETENTION = Duration.ofHours(24);

  public LedgerConfig {
    if (deadline.compareTo(Duration.ofMillis(250)) < 0) {
      // The connection pool's own floor; a smaller one would not be kept.
      throw new IllegalArgumentException("a deadline is at least 250 ms: " + deadline);
    }
    if (keyRetention.isNegative()) {
      throw new IllegalArgumentException(
          "keys cannot be kept for less than no time: " + keyRetention);
    }
  }

  /** Where a ledger can be. */
  public sealed interface Location {}

  /** SQLite, in a folder that belongs to one process at a time; made when it is missing. */
  public record Folder(Path folder) implements Location {}

  /**
   * PostgreSQL.
   *
   * @param url a JDBC URL without user and password
   * @param schema where the tables are; made when it is missing. Each installation has its own
   * @param connections the most that are open at once
   */
  public record Server(String url, String user, Secret password, String schema, int connections)
      implements Location {
    public static final String DEFAULT_SCHEMA = "isola";
    public static final int DEFAULT_CONNECTIONS = 8;

    public Server {
      if (!schema.matches("[a-z][a-z0-9_]{0,62}")) {
        throw new IllegalArgumentException(
            "a schema is 1 to 63 lower-case letters, digits and _: " + schema);
      }
      if (connections < 1) {
        throw new IllegalArgumentException("at least one connection is needed: " + connections);
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
