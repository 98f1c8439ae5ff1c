package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * Events in the table {@code event}. Their numbers come from a row of {@code counter} instead of a
 * sequence: whichever transaction takes numbers locks that row until it ends. Numbers therefore
 * become visible in order, and a number that was rolled back is reused.
 *
 * <p>SQLite, which has one writer, numbers an event when it is appended. On PostgreSQL that would
 * let transactions wait for each other's commits. There an append adds to {@code event_queue}, and
 * the first reader numbers the events of the transactions that have committed, all at once.
 */
record SqlEvents(Database database) implements LedgerEvents {
  private static final int BATCH = 10_000;

  @Override
  public void append(NewEvent event) {
    boolean queued = isQueued();
    database.write(
        c -> {
          long number = queued ? position(c) : takeNumbers(c, 1);
          return Sql.update(
              c,
              "insert into "
                  + (queued ? "event_queue (position" : "event (number")
                  + ", sandbox_id, type, data, happened_at) values (?, ?, ?, ?, ?)",
              number,
              event.sandbox().map(SandboxId::value),
              event.type(),
              event.data(),
              event.at());
        });
  }

  private boolean isQueued() {
    return database.dialect() == Dialect.POSTGRESQL;
  }

  private static long position(Connection c) throws SQLException {
    return Sql.one(c, "select nextval('event_position') as position", row -> row.number("position"))
        .orElseThrow();
  }

  /** Takes numbers, which no other transaction can do until this one ends; returns the last. */
  private static long takeNumbers(Connection c, int count) throws SQLException {
    return Sql.one(
            c,
            "update counter set value = value + ? where name = 'event' returning value",
            row -> row.number("value"),
            count)
        .orElseThrow();
  }

  /** Numbers the queued events of transactions that have committed. */
  private void numberQueued() {
    if (!isQueued()) {
      return;
    }
    boolean more = database.read(SqlEvents::isWaiting);
    while (more) {
      more = database.write(SqlEvents::numberSome) == BATCH;
    }
  }

  private static boolean isWaiting(Connection c) throws SQLException {
    return Sql.one(c, "select 1 from event_queue limit 1", row -> true).isPresent();
  }

  private static int numberSome(Connection c) throws SQLException {
    long last = takeNumbers(c, 0);
    int count =
        Sql.update(
            c,
            "with moved as (delete from event_queue where position in"
                + " (select position from event_queue order by position limit ?)"
                + " returning position, sandbox_id, type, data, happened_at)"
                + " insert into event (number, sandbox_id, type, data, happened_at)"
                + " select ? + row_number() over (order by position), sandbox_id, type, data,"
                + " happened_at from moved",
            BATCH,
            last);
    long _ = takeNumbers(c, count);
    return count;
  }

  @Override
  public List<LedgerEvent> after(long number, int limit) {
    numberQueued();
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
    numberQueued();
    return database.read(
        c ->
            Sql.one(c, "select value from counter where name = 'event'", row -> row.number("value"))
                .orElseThrow());
  }

  @Override
  public int purge(Instant before) {
    numberQueued();
    return database.write(c -> Sql.update(c, "delete from event where happened_at < ?", before));
  }
}
