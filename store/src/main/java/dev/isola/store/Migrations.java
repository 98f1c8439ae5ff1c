package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The schema migrations, in order. Both databases support transactional DDL. */
record Migrations(List<Migration> steps) {
  static final String TABLE = "schema_version";

  static Migrations all() {
    return new Migrations(Stream.of("0001-schema.sql").map(Migration::resource).toList());
  }

  /**
   * Migrates the schema to the current version within the caller's transaction. After an exception,
   * the rollback leaves the schema unchanged.
   *
   * @throws dev.isola.spi.error.Conflict if the schema was created by a newer version of Isola, or
   *     by one with different migrations
   */
  void apply(Connection connection, String databaseName) throws SQLException {
    Sql.update(
        connection,
        "create table if not exists "
            + TABLE
            + " (version bigint not null primary key, name text not null,"
            + " checksum text not null, applied_at bigint not null)");
    Map<Long, String> applied = new TreeMap<>();
    Sql.list(
            connection,
            "select version, checksum from " + TABLE,
            row -> Map.entry(row.number("version"), row.text("checksum")))
        .forEach(step -> applied.put(step.getKey(), step.getValue()));
    refuseNewer(applied, databaseName);
    for (Migration step : steps) {
      String before = applied.get((long) step.version());
      if (before == null) {
        apply(connection, step);
      } else if (!before.equals(step.checksum())) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the ledger "
                    + databaseName
                    + " was created with a different migration "
                    + step.version(),
                "run the version of Isola that created it; the ledger is unchanged")
            .exception();
      }
    }
  }

  private void refuseNewer(Map<Long, String> applied, String databaseName) {
    long known = steps.isEmpty() ? 0 : steps.getLast().version();
    long found = applied.keySet().stream().mapToLong(version -> version).max().orElse(0);
    if (found > known) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the ledger "
                  + databaseName
                  + " has schema version "
                  + found
                  + ", this version of Isola supports up to "
                  + known
                  + "; the ledger is unchanged",
              "run the newer version of Isola that migrated it; to return to this version, stop all servers"
                  + " and restore the backup from before the upgrade")
          .exception();
    }
  }

  private static void apply(Connection connection, Migration step) throws SQLException {
    for (String statement : step.statements()) {
      Sql.update(connection, statement);
    }
    Sql.update(
        connection,
        "insert into " + TABLE + " (version, name, checksum, applied_at) values (?, ?, ?, ?)",
        step.version(),
        step.name(),
        step.checksum(),
        Instant.now());
  }
}
