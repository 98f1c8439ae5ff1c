package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Settings in the table {@code setting}. */
record SqlSettings(Database database) implements SettingEntries {

  @Override
  public Optional<String> get(String scope, String name) {
    return database.read(
        c ->
            Sql.one(
                c,
                "select value from setting where scope = ? and name = ?",
                row -> row.text("value"),
                scope,
                name));
  }

  @Override
  public void put(String scope, String name, String value) {
    database.write(
        c -> {
          countChange(c, scope);
          return Sql.update(
              c,
              "insert into setting (scope, name, value) values (?, ?, ?)"
                  + " on conflict (scope, name) do update set value = excluded.value",
              scope,
              name,
              value);
        });
  }

  @Override
  public String putIfAbsent(String scope, String name, String value) {
    return database.write(
        c -> {
          if (Sql.update(
                  c,
                  "insert into setting (scope, name, value) values (?, ?, ?) on conflict do"
                      + " nothing",
                  scope,
                  name,
                  value)
              > 0) {
            countChange(c, scope);
          }
          return Sql.one(
                  c,
                  "select value from setting where scope = ? and name = ?",
                  row -> row.text("value"),
                  scope,
                  name)
              .orElseThrow();
        });
  }

  @Override
  public boolean replace(String scope, String name, String value) {
    return database.write(
        c -> {
          countChange(c, scope);
          return Sql.update(
                  c,
                  "update setting set value = ? where scope = ? and name = ?",
                  value,
                  scope,
                  name)
              > 0;
        });
  }

  @Override
  public boolean remove(String scope, String name) {
    return DiskReserve.freeing(
        () ->
            database.write(
                c -> {
                  countChange(c, scope);
                  return Sql.update(
                          c, "delete from setting where scope = ? and name = ?", scope, name)
                      > 0;
                }));
  }

  /** Counts a change of a scope whose version was asked for. */
  private static void countChange(Connection c, String scope) throws SQLException {
    Sql.update(c, "update counter set value = value + 1 where name = ?", counter(scope));
  }

  private static String counter(String scope) {
    return "setting/" + scope;
  }

  @Override
  public long version(String scope) {
    Optional<Long> version =
        database.read(
            c ->
                Sql.one(
                    c,
                    "select value from counter where name = ?",
                    row -> row.number("value"),
                    counter(scope)));
    if (version.isEmpty()) {
      database.write(
          c ->
              Sql.update(
                  c,
                  "insert into counter (name, value) values (?, 0) on conflict do nothing",
                  counter(scope)));
    }
    return version.orElse(0L);
  }

  @Override
  public Map<String, String> all(String scope) {
    Map<String, String> values = new TreeMap<>();
    database
        .read(
            c ->
                Sql.list(
                    c,
                    "select name, value from setting where scope = ?",
                    row -> Map.entry(row.text("name"), row.text("value")),
                    scope))
        .forEach(setting -> values.put(setting.getKey(), setting.getValue()));
    return values;
  }
}
