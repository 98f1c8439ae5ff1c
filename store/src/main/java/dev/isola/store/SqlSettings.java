package dev.isola.store;

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
        c ->
            Sql.update(
                c,
                "insert into setting (scope, name, value) values (?, ?, ?)"
                    + " on conflict (scope, name) do update set value = excluded.value",
                scope,
                name,
                value));
  }

  @Override
  public boolean remove(String scope, String name) {
    return database.write(
        c -> Sql.update(c, "delete from setting where scope = ? and name = ?", scope, name) > 0);
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
