package dev.isola.store;

import dev.isola.spi.SandboxState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A filter as an SQL statement with its values. */
record SandboxQuery(String sql, List<Object> values) {

  static SandboxQuery of(EntryFilter filter, String after, int limit) {
    List<String> terms = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    filter
        .tenant()
        .ifPresent(
            tenant -> {
              terms.add("tenant = ?");
              values.add(tenant);
            });
    if (filter.states().equals(EntryFilter.NOT_DESTROYED)) {
      // Also matches states that this version does not know.
      terms.add("state <> 'DESTROYED'");
    } else if (!filter.states().isEmpty()) {
      terms.add(
          "state in (" + String.join(", ", Collections.nCopies(filter.states().size(), "?")) + ")");
      values.addAll(filter.states());
      if (!filter.states().contains(SandboxState.DESTROYED)) {
        // Redundant, but allows both databases to use the partial index that omits destroyed
        // sandboxes.
        terms.add("state <> 'DESTROYED'");
      }
    }
    filter
        .provider()
        .ifPresent(
            provider -> {
              terms.add("provider = ?");
              values.add(provider);
            });
    filter
        .pooled()
        .ifPresent(
            pooled -> {
              terms.add("pooled = ?");
              values.add(pooled);
            });
    filter
        .labels()
        .forEach(
            (name, value) -> {
              terms.add(
                  "exists (select 1 from label where sandbox_id = sandbox.id"
                      + " and name = ? and value = ?)");
              values.add(name);
              values.add(value);
            });
    filter
        .startedAfter()
        .ifPresent(
            time -> {
              terms.add("created_at >= ?");
              values.add(time);
            });
    filter
        .name()
        .ifPresent(
            name -> {
              terms.add("name = ?");
              values.add(name);
            });
    filter
        .owner()
        .ifPresent(
            owner -> {
              terms.add("owner = ?");
              values.add(owner);
            });
    filter
        .reference()
        .ifPresent(
            text -> {
              // Not LIKE: SQLite ignores case in it, and a reference may contain an underscore.
              boolean prefix = text.length() >= EntryFilter.SHORTEST_PREFIX;
              String id = prefix ? "substr(id, 1, " + text.length() + ")" : "id";
              terms.add("(name = ? or " + id + " = ?)");
              values.add(text);
              values.add(text);
            });
    if (!after.isEmpty()) {
      Cursor cursor = Cursor.decode(after);
      terms.add("(created_at, id) " + (filter.newestFirst() ? "<" : ">") + " (?, ?)");
      values.add(cursor.createdAt());
      values.add(cursor.id());
    }
    values.add(limit);
    return new SandboxQuery(
        "select * from sandbox"
            + (terms.isEmpty() ? "" : " where " + String.join(" and ", terms))
            + (filter.newestFirst()
                ? " order by created_at desc, id desc limit ?"
                : " order by created_at, id limit ?"),
        values);
  }
}
