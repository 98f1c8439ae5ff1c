package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.List;

/**
 * Events in the table {@code event}. Their numbers come from a row of {@code counter} instead of a
 * sequence: an append locks that row until its transaction ends. Numbers therefore become visible
 * in order, and a number that was rolled back is reused.
 */
record SqlEvents(Database database) implements LedgerEvents {

  @Override
  public LedgerEvent append(NewEvent event) {
    return database.write(
        c -> {
          long number =
              Sql.one(
                      c,
                      "update counter set value = value + 1 where name = 'event' returning value",
                      row -> row.number("value"))
                  .orElseThrow();
          Sql.update(
              c,
              "insert into event (number, sandbox_id, type, data, happened_at)"
                  + " values (?, ?, ?, ?, ?)",
              number,
              event.sandbox().map(SandboxId::value),
              event.type(),
              event.data(),
              event.at());
          return new LedgerEvent(number, event.sandbox(), event.type(), event.data(), event.at());
        });
  }

  @Override
  public List<LedgerEvent> after(long number, int limit) {
    return database.read(
        c ->
            Sql.list(
                c,
                "select number, sandbox_id, type, data, happened_at from event"
                    + " where number > ? order by number limit ?",
                row ->
                    new LedgerEvent(
                        row.number("number"),
                        row.optionalText("sandbox_id").map(SandboxId::new),
                        row.text("type"),
                        row.text("data"),
                        row.time("happened_at")),
                number,
                limit));
  }

  @Override
  public long last() {
    return database.read(
        c ->
            Sql.one(c, "select value from counter where name = 'event'", row -> row.number("value"))
                .orElseThrow());
  }

  @Override
  public int purge(Instant before) {
    return database.write(c -> Sql.update(c, "delete from event where happened_at < ?", before));
  }
}
