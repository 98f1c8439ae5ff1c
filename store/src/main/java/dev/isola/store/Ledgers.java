package dev.isola.store;

/** Opens ledgers. */
public final class Ledgers {
  private Ledgers() {}

  /**
   * Opens the ledger, creating it or migrating its schema as needed.
   *
   * @throws dev.isola.spi.error.Conflict if another process owns the folder (the message names its
   *     pid), or if the existing data is not a ledger or belongs to a newer version of Isola; the
   *     data is left unchanged
   * @throws dev.isola.spi.error.Internal if the existing data is damaged; it is left unchanged
   * @throws dev.isola.spi.error.ProviderUnavailable if the database is unreachable
   */
  public static Ledger open(LedgerConfig config) {
    return open(config, DiskReserve.NONE);
  }

  /**
   * Opens the ledger like {@link #open(LedgerConfig)}.
   *
   * @param reserve what {@link DiskReserve#freeing} work may use when the disk of a SQLite ledger
   *     is full
   */
  public static Ledger open(LedgerConfig config, DiskReserve reserve) {
    return open(config, Migrations.all(), reserve);
  }

  static SqlLedger open(LedgerConfig config, Migrations migrations) {
    return open(config, migrations, DiskReserve.NONE);
  }

  private static SqlLedger open(LedgerConfig config, Migrations migrations, DiskReserve reserve) {
    Database database =
        switch (config.location()) {
          case LedgerConfig.Folder folder ->
              SqliteDatabase.open(folder.folder(), config.deadline(), migrations, reserve);
          case LedgerConfig.Server server ->
              PostgresDatabase.open(server, config.deadline(), migrations);
        };
    return new SqlLedger(database, config.keyRetention(), reserve);
  }
}
