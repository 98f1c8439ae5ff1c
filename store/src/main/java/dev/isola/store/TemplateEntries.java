package dev.isola.store;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * The templates of the ledger and their builds, in the tables {@code template} and {@code
 * template_build}.
 */
public final class TemplateEntries {
  private static final String SELECT =
      "select id, names, image, document, cpus, memory_mb, build, state, created_at, updated_at"
          + " from template";
  private static final String SELECT_BUILD =
      "select id, template_id, state, image, reason, failed_step, created_at, updated_at"
          + " from template_build";
  private static final String BY_AGE = " order by created_at, id";

  private final Database database;

  TemplateEntries(Database database) {
    this.database = database;
  }

  /** Inserts a template. Returns false and writes nothing if its id exists. */
  public boolean insert(TemplateEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "insert into template (id, names, image, document, cpus, memory_mb, build,"
                        + " state, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                        + " on conflict (id) do nothing",
                    entry.id(),
                    names(entry.names()),
                    entry.image(),
                    entry.document(),
                    entry.cpus(),
                    entry.memoryMb(),
                    entry.build(),
                    entry.state(),
                    entry.createdAt(),
                    entry.updatedAt()))
        > 0;
  }

  public Optional<TemplateEntry> find(String id) {
    return database.read(c -> Sql.one(c, SELECT + " where id = ?", TemplateEntries::entry, id));
  }

  /** Returns all templates, oldest first. */
  public List<TemplateEntry> all() {
    return database.read(c -> Sql.list(c, SELECT + BY_AGE, TemplateEntries::entry));
  }

  /** Replaces a template. Returns false if it does not exist. */
  public boolean update(TemplateEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "update template set names = ?, image = ?, document = ?, cpus = ?,"
                        + " memory_mb = ?, build = ?, state = ?, updated_at = ? where id = ?",
                    names(entry.names()),
                    entry.image(),
                    entry.document(),
                    entry.cpus(),
                    entry.memoryMb(),
                    entry.build(),
                    entry.state(),
                    entry.updatedAt(),
                    entry.id()))
        > 0;
  }

  /** Removes a template with its builds. Returns whether it existed. */
  public boolean remove(String id) {
    return database.write(
        c -> {
          int _ = Sql.update(c, "delete from template_build where template_id = ?", id);
          return Sql.update(c, "delete from template where id = ?", id) > 0;
        });
  }

  /** Inserts a build. Returns false and writes nothing if its id exists. */
  public boolean insert(BuildEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "insert into template_build (id, template_id, state, image, reason,"
                        + " failed_step, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)"
                        + " on conflict (id) do nothing",
                    entry.id(),
                    entry.template(),
                    entry.state(),
                    entry.image(),
                    entry.reason(),
                    entry.failedStep(),
                    entry.createdAt(),
                    entry.updatedAt()))
        > 0;
  }

  public Optional<BuildEntry> build(String id) {
    return database.read(
        c -> Sql.one(c, SELECT_BUILD + " where id = ?", TemplateEntries::buildEntry, id));
  }

  /** Returns the builds of a template, oldest first. */
  public List<BuildEntry> builds(String template) {
    return database.read(
        c ->
            Sql.list(
                c,
                SELECT_BUILD + " where template_id = ?" + BY_AGE,
                TemplateEntries::buildEntry,
                template));
  }

  /** Returns the builds of all templates, oldest first. */
  public List<BuildEntry> builds() {
    return database.read(c -> Sql.list(c, SELECT_BUILD + BY_AGE, TemplateEntries::buildEntry));
  }

  /** Replaces a build. Returns false if it does not exist. */
  public boolean update(BuildEntry entry) {
    return database.write(
            c ->
                Sql.update(
                    c,
                    "update template_build set state = ?, image = ?, reason = ?, failed_step = ?,"
                        + " updated_at = ? where id = ?",
                    entry.state(),
                    entry.image(),
                    entry.reason(),
                    entry.failedStep(),
                    entry.updatedAt(),
                    entry.id()))
        > 0;
  }

  /** Returns whether the build existed. */
  public boolean removeBuild(String id) {
    return database.write(c -> Sql.update(c, "delete from template_build where id = ?", id)) > 0;
  }

  private static String names(List<String> names) {
    return TabSeparatedText.write(names.stream().map(List::of).toList());
  }

  private static TemplateEntry entry(Row row) throws SQLException {
    return new TemplateEntry(
        row.text("id"),
        TabSeparatedText.read(row.text("names")).stream().map(List::getFirst).toList(),
        row.text("image"),
        row.text("document"),
        row.optionalLong("cpus"),
        row.optionalLong("memory_mb"),
        row.text("build"),
        TemplateEntry.State.valueOf(row.text("state")),
        row.time("created_at"),
        row.time("updated_at"));
  }

  private static BuildEntry buildEntry(Row row) throws SQLException {
    return new BuildEntry(
        row.text("id"),
        row.text("template_id"),
        BuildEntry.State.valueOf(row.text("state")),
        row.text("image"),
        row.text("reason"),
        row.optionalLong("failed_step"),
        row.time("created_at"),
        row.time("updated_at"));
  }
}
