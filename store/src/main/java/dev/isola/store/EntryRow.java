package dev.isola.store;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How an entry stands in the table {@code sandbox}. */
final class EntryRow {
  /** Everything that an update writes, in the order of {@link #values}. */
  static final List<String> CHANGING =
      List.of(
          "tenant",
          "spec",
          "spec_hash",
          "provider",
          "isolation",
          "state",
          "revision",
          "updated_at",
          "expires_at",
          "idle_timeout",
          "last_activity",
          "due_at",
          "warm",
          "pooled",
          "cause",
          "attempts",
          "labels");

  private EntryRow() {}

  static Object[] values(SandboxEntry entry) {
    return new Object[] {
      entry.tenant(),
      entry.spec(),
      entry.specHash(),
      entry.provider(),
      entry.isolation(),
      entry.state(),
      entry.revision(),
      entry.updatedAt(),
      entry.expiresAt(),
      entry.idleTimeout(),
      entry.lastActivity(),
      entry.dueAt(),
      entry.warm(),
      entry.pooled(),
      entry.cause(),
      attempts(entry.attempts()),
      labels(entry.labels())
    };
  }

  static SandboxEntry read(Row row) throws SQLException {
    return new SandboxEntry(
        new SandboxId(row.text("id")),
        row.text("tenant"),
        row.text("spec"),
        row.text("spec_hash"),
        row.text("provider"),
        Isolation.valueOf(row.text("isolation")),
        SandboxState.valueOf(row.text("state")),
        row.number("revision"),
        row.time("created_at"),
        row.time("updated_at"),
        row.optionalTime("expires_at"),
        row.optionalDuration("idle_timeout"),
        row.time("last_activity"),
        row.flag("warm"),
        row.flag("pooled"),
        row.optionalText("cause"),
        attempts(row.text("attempts")),
        labels(row.text("labels")));
  }

  static String labels(Map<String, String> labels) {
    return Lines.write(
        new TreeMap<>(labels)
            .entrySet().stream().map(e -> List.of(e.getKey(), e.getValue())).toList());
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new TreeMap<>();
    Lines.read(text).forEach(line -> labels.put(line.get(0), line.get(1)));
    return labels;
  }

  private static String attempts(List<Attempt> attempts) {
    return Lines.write(
        attempts.stream()
            .map(a -> List.of(a.provider(), Long.toString(Micros.of(a.at())), a.reason()))
            .toList());
  }

  private static List<Attempt> attempts(String text) {
    return Lines.read(text).stream()
        .map(
            line ->
                new Attempt(line.get(0), line.get(2), Micros.instant(Long.parseLong(line.get(1)))))
        .toList();
  }
}
