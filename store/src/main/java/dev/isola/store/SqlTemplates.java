package dev.isola.store;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Templates in the tables {@code template} and {@code template_build}. */
record SqlTemplates(Database database) implements TemplateEntries {
  private static final String SELECT =
      "select id, names, image, document, cpus, memory_mb, build, state, created_at, updated_at"
          + " from template";
  private static final String SELECT_BUILD =
      "select id, template_id, state, image, reason, failed_step, created_at, updated_at"
          + " from template_build";
  private static final String BY_AGE = " order by created_at, id";

  @Override
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

  @Override
  public Optional<TemplateEntry> find(String id) {
    return database.read(c -> Sql.one(c, SELECT + " where id = ?", SqlTemplates::entry, id));
  }

  @Override
  public List<TemplateEntry> all() {
    return database.read(c -> Sql.list(c, SELECT + BY_AGE, SqlTemplates::entry));
  }

  @Override
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

  @Override
  public boolean remove(String id) {
    return database.write(
        c -> {
          int _ = Sql.update(c, "delete from template_build where template_id = ?", id);
          return Sql.update(c, "delete from template where id = ?", id) > 0;
        });
  }

  @Override
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

  @Override
  public Optional<BuildEntry> build(String id) {
    return database.read(
        c -> Sql.one(c, SELECT_BUILD + " where id = ?", SqlTemplates::buildEntry, id));
  }

  @Override
  public List<BuildEntry> builds(String template) {
    return database.read(
        c ->
            Sql.list(
                c,
                SELECT_BUILD + " where template_id = ?" + BY_AGE,
                SqlTemplates::buildEntry,
                template));
  }

  @Override
  public List<BuildEntry> builds() {
    return database.read(c -> Sql.list(c, SELECT_BUILD + BY_AGE, SqlTemplates::buildEntry));
  }

  @Override
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

  @Override
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
