package dev.isola.store;

/** Opens ledgers. */
public final class Ledgers {
  private Ledgers() {}

  /**
   * Opens the ledger, makes it when there is none, and brings an older one up to date.
   *
   * @throws dev.isola.spi.error.Conflict when another process owns the folder (its pid is named),
   *     or what is there is not a ledger or one of a newer Isola; it is left as it was
   * @throws dev.isola.spi.error.Internal when what is there is damaged; it is left as it was
   * @throws dev.isola.spi.error.ProviderUnavailable when the database cannot be reached
   */
  public static Ledger open(LedgerConfig config) {
    return open(config, Migrations.all());
  }

  static SqlLedger open(LedgerConfig config, Migrations migrations) {
    Database database =
        switch (config.location()) {
          case LedgerConfig.Folder folder ->
              SqliteDatabase.open(folder.folder(), config.deadline(), migrations);
          case LedgerConfig.Server server ->
              PostgresDatabase.open(server, config.deadline(), migrations);
        };
    return new SqlLedger(database, config.keyRetention());
  }
}
