package dev.isola.store;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The ledger on either database. */
final class SqlLedger implements Ledger {
  private final Database database;
  private final Duration keepKeys;
  private final Parts parts;

  private record Parts(
      Sandboxes sandboxes,
      Events events,
      Idempotency idempotency,
      Settings settings,
      VolumeEntries volumes,
      TemplateEntries templates)
      implements LedgerParts {
    static Parts on(Database database, Duration keepKeys) {
      return new Parts(
          new SqlSandboxes(database),
          new SqlEvents(database),
          new SqlIdempotency(database, keepKeys),
          new SqlSettings(database),
          new SqlVolumes(database),
          new SqlTemplates(database));
    }
  }

  SqlLedger(Database database, Duration keepKeys) {
    this.database = database;
    this.keepKeys = keepKeys;
    this.parts = Parts.on(database, keepKeys);
  }

  @Override
  public <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work) {
    return database.write(
        connection -> work.apply(Parts.on(new Bound(connection, database.dialect()), keepKeys)));
  }

  @Override
  public Sandboxes sandboxes() {
    return parts.sandboxes();
  }

  @Override
  public Events events() {
    return parts.events();
  }

  @Override
  public Idempotency idempotency() {
    return parts.idempotency();
  }

  @Override
  public Settings settings() {
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
  public void close() {
    database.close();
  }

  /** For tests that look at the database itself. */
  Database database() {
    return database;
  }
}
