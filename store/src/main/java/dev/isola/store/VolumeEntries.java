package dev.isola.store;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** The volumes of the ledger, in the table {@code volume}. */
public final class VolumeEntries {
  private static final String SELECT =
      "select id, tenant, name, provider, state, created_at, updated_at from volume";

  private final Database database;

  VolumeEntries(Database database) {
    this.database = database;
  }

  /** Inserts a volume. Returns false and writes nothing if its name is taken. */
  public boolean insert(VolumeEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "insert into volume (id, tenant, name, provider, state, created_at, updated_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?) on conflict (name) do nothing",
                    entry.id(),
                    entry.tenant(),
                    entry.name(),
                    entry.provider(),
                    entry.state(),
                    entry.createdAt(),
                    entry.updatedAt()))
        > 0;
  }

  public Optional<VolumeEntry> find(String id) {
    return database.read(c -> Sql.one(c, SELECT + " where id = ?", VolumeEntries::entry, id));
  }

  public Optional<VolumeEntry> findByName(String name) {
    return database.read(c -> Sql.one(c, SELECT + " where name = ?", VolumeEntries::entry, name));
  }

  /** Returns the volumes of all tenants, sorted by name. */
  public List<VolumeEntry> all() {
    return database.read(c -> Sql.list(c, SELECT + " order by name", VolumeEntries::entry));
  }

  /** Updates the provider and the state. Returns false if the volume does not exist. */
  public boolean update(VolumeEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "update volume set provider = ?, state = ?, updated_at = ? where id = ?",
                    entry.provider(),
                    entry.state(),
                    entry.updatedAt(),
                    entry.id()))
        > 0;
  }

  /** Returns whether the volume existed. */
  public boolean remove(String id) {
    return database.write(c -> Sql.update(c, "delete from volume where id = ?", id)) > 0;
  }

  private static VolumeEntry entry(Row row) throws SQLException {
    return new VolumeEntry(
        row.text("id"),
        row.text("tenant"),
        row.text("name"),
        row.text("provider"),
        VolumeEntry.State.valueOf(row.text("state")),
        row.time("created_at"),
        row.time("updated_at"));
  }
}
