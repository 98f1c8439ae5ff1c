package dev.isola.store;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A ledger on either database. */
final class SqlLedger implements Ledger {
  private final Database database;
  private final Duration keyRetention;
  private final Parts parts;
  private final ServerEntries leases;
  private final DiskReserve reserve;

  private record Parts(
      SandboxEntries sandboxes,
      LedgerEvents events,
      IdempotencyKeys idempotency,
      SettingEntries settings,
      VolumeEntries volumes,
      TemplateEntries templates,
      ServerEntries servers)
      implements LedgerParts {
    static Parts on(Database database, Duration keepKeys) {
      return new Parts(
          new SqlSandboxes(database),
          new SqlEvents(database),
          new SqlIdempotencyKeys(database, keepKeys),
          new SqlSettings(database),
          new VolumeEntries(database),
          new TemplateEntries(database),
          new SqlServers(database));
    }
  }

  SqlLedger(Database database, Duration keepKeys, DiskReserve reserve) {
    this.database = database;
    this.keyRetention = keepKeys;
    this.parts = Parts.on(database, keepKeys);
    this.leases = new SqlServers(database.forLeases());
    this.reserve = reserve;
  }

  @Override
  public <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work) {
    return database.write(
        connection ->
            work.apply(
                Parts.on(new TransactionDatabase(connection, database.dialect()), keyRetention)));
  }

  @Override
  public SandboxEntries sandboxes() {
    return parts.sandboxes();
  }

  @Override
  public LedgerEvents events() {
    return parts.events();
  }

  @Override
  public IdempotencyKeys idempotency() {
    return parts.idempotency();
  }

  @Override
  public SettingEntries settings() {
    return parts.settings();
  }

  @Override
  public VolumeEntries volumes() {
    return parts.volumes();
  }

  @Override
  public TemplateEntries templates() {
    return parts.templates();
  }

  @Override
  public ServerEntries servers() {
    return parts.servers();
  }

  @Override
  public ServerEntries leases() {
    return leases;
  }

  @Override
  public DiskReserve reserve() {
    return reserve;
  }

  @Override
  public void close() {
    database.close();
  }

  /** For tests that inspect the database. */
  Database database() {
    return database;
  }
}
