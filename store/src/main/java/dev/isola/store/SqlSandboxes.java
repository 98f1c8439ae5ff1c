package dev.isola.store;

import static java.util.stream.Collectors.joining;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.StateTransition;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Sandboxes in the tables {@code sandbox}, {@code label} and {@code transition}. */
record SqlSandboxes(Database database) implements SandboxEntries {
  private static final String INSERT =
      "insert into sandbox (id, created_at, "
          + String.join(", ", SandboxRow.MUTABLE_COLUMNS)
          + ") values ("
          + String.join(", ", Collections.nCopies(SandboxRow.MUTABLE_COLUMNS.size() + 2, "?"))
          + ") on conflict do nothing";

  private static final String COMPARE_AND_SET =
      "update sandbox set "
          + SandboxRow.MUTABLE_COLUMNS.stream()
              .map(column -> column + " = ?")
              .collect(joining(", "))
          + " where id = ? and revision = ?";

  private static final String TOUCH =
      "update sandbox set last_activity = ?, updated_at = ?, revision = revision + 1,"
          + " due_at = case when idle_timeout is null then expires_at"
          + " when expires_at is null or expires_at > ? + idle_timeout then ? + idle_timeout"
          + " else expires_at end"
          + " where id = ? and last_activity < ? and state in ('RUNNING', 'PAUSED', 'STOPPED')";

  @Override
  public SandboxEntry insert(SandboxEntry entry) {
    if (entry.state() != SandboxState.CREATING || entry.revision() != 0) {
      throw new IllegalArgumentException(
          "an intent must have state CREATING and revision 0: " + entry.id());
    }
    SandboxEntry stored = entry.withRevision(1);
    return database.write(
        c -> {
          List<Object> values = new ArrayList<>(List.of(stored.id().value(), stored.createdAt()));
          values.addAll(Arrays.asList(SandboxRow.values(stored)));
          if (Sql.update(c, INSERT, values.toArray()) == 0) {
            throw alreadyExists(c, stored);
          }
          writeLabels(c, stored.id(), stored.labels());
          writeTransition(c, Optional.empty(), stored);
          return stored;
        });
  }

  /** Returns the error for an intent that has the id or the name of another sandbox. */
  private static SandboxException alreadyExists(Connection c, SandboxEntry intent)
      throws SQLException {
    Optional<SandboxId> holder =
        intent.name().isPresent()
            ? nameHolder(c, intent.tenant(), intent.name().get())
            : Optional.empty();
    if (holder.isPresent() && !holder.get().equals(intent.id())) {
      return Fault.of(
              ErrorCode.CONFLICT,
              "the name '" + intent.name().orElseThrow() + "' belongs to sandbox " + holder.get(),
              "use another name, or destroy that sandbox first")
          .sandbox(holder.get())
          .with("name", intent.name().orElseThrow())
          .exception();
    }
    return Fault.of(
            ErrorCode.CONFLICT, "sandbox " + intent.id() + " already exists", "use another id")
        .sandbox(intent.id())
        .exception();
  }

  private static Optional<SandboxId> nameHolder(Connection c, String tenant, String name)
      throws SQLException {
    return Sql.one(
        c,
        "select id from sandbox where tenant = ? and name = ? and state <> 'DESTROYED'",
        row -> new SandboxId(row.text("id")),
        tenant,
        name);
  }

  @Override
  public Optional<SandboxEntry> find(SandboxId id) {
    return database.read(c -> find(c, id));
  }

  private static Optional<SandboxEntry> find(Connection c, SandboxId id) throws SQLException {
    return Sql.one(c, "select * from sandbox where id = ?", SandboxRow::read, id.value())
        .flatMap(found -> found);
  }

  @Override
  public UpdateResult update(SandboxEntry entry) {
    return database.write(
        c -> {
          SandboxEntry before = find(c, entry.id()).orElseThrow(() -> missing(entry.id()));
          if (before.revision() != entry.revision()) {
            return new UpdateResult.Stale(before);
          }
          if (!before.createdAt().equals(entry.createdAt())) {
            throw new IllegalArgumentException("createdAt must not change");
          }
          if (before.state() != entry.state()) {
            StateTransition.check(before.state(), entry.state(), entry.id());
          }
          SandboxEntry after = entry.withRevision(entry.revision() + 1);
          List<Object> values = new ArrayList<>(Arrays.asList(SandboxRow.values(after)));
          values.add(entry.id().value());
          values.add(entry.revision());
          if (Sql.update(c, COMPARE_AND_SET, values.toArray()) == 0) {
            // Another writer changed the row after this transaction read it.
            return new UpdateResult.Stale(
                find(c, entry.id()).orElseThrow(() -> missing(entry.id())));
          }
          if (!before.labels().equals(after.labels())) {
            writeLabels(c, after.id(), after.labels());
          }
          if (before.state() != after.state()) {
            writeTransition(c, Optional.of(before.state()), after);
          }
          return new UpdateResult.Written(after);
        });
  }

  @Override
  public int touch(Map<SandboxId, Instant> lastActivity) {
    return database.write(
        c -> {
          int written = 0;
          // Updates rows in a fixed order, so that two concurrent calls cannot deadlock.
          for (Map.Entry<SandboxId, Instant> each : new TreeMap<>(lastActivity).entrySet()) {
            Instant at = each.getValue();
            written += Sql.update(c, TOUCH, at, at, at, at, each.getKey().value(), at);
          }
          return written;
        });
  }

  @Override
  public EntryPage list(EntryFilter filter, String after, int limit) {
    checkLimit(limit);
    SandboxQuery query = SandboxQuery.of(filter, after, limit + 1);
    List<SandboxEntry> found =
        database.read(
            c -> readable(Sql.list(c, query.sql(), SandboxRow::read, query.values().toArray())));
    if (found.size() <= limit) {
      return new EntryPage(found, Optional.empty());
    }
    List<SandboxEntry> page = found.subList(0, limit);
    return new EntryPage(page, Optional.of(Cursor.after(page.getLast()).encoded()));
  }

  @Override
  public List<SandboxEntry> findExpired(
      Optional<String> owner, Set<String> except, Instant now, int limit) {
    checkLimit(limit);
    List<Object> values = new ArrayList<>();
    owner.ifPresent(values::add);
    values.addAll(except);
    values.addAll(List.of(now, limit));
    return database.read(
        c ->
            readable(
                Sql.list(
                    c,
                    "select * from sandbox where "
                        + (owner.isPresent() ? "owner = ? and " : "")
                        + "provider <> ? and ".repeat(except.size())
                        + "due_at <= ? order by due_at limit ?",
                    SandboxRow::read,
                    values.toArray())));
  }

  @Override
  public List<SandboxEntry> takeOver(TakeOver request) {
    if (request.providers().isEmpty()) {
      return List.of();
    }
    return database.write(
        c -> {
          // A lease that is read here cannot be renewed before this transaction ends.
          List<String> former =
              Sql.list(
                  c,
                  "select name from server where lease_until < "
                      + database.dialect().now()
                      + " and name <> ?"
                      + database.dialect().forShare(),
                  row -> row.text("name"),
                  request.owner());
          return readable(takeOver(c, request, former));
        });
  }

  private List<Optional<SandboxEntry>> takeOver(Connection c, TakeOver request, List<String> former)
      throws SQLException {
    List<Object> values = new ArrayList<>();
    values.add(request.owner());
    values.add("");
    values.addAll(former);
    values.addAll(request.providers());
    request.id().ifPresent(id -> values.add(id.value()));
    request.expiredBefore().ifPresent(values::add);
    values.add(request.limit());
    return Sql.list(
        c,
        "update sandbox set owner = ?, fence = fence + 1, revision = revision + 1"
            + " where id in (select id from sandbox where state <> 'DESTROYED' and owner in ("
            + placeholders(former.size() + 1)
            + ") and provider in ("
            + placeholders(request.providers().size())
            + ")"
            + (request.id().isPresent() ? " and id = ?" : "")
            + (request.expiredBefore().isPresent() ? " and expires_at < ?" : "")
            + " order by owner, id limit ?"
            + database.dialect().skipLocked()
            + ") returning *",
        SandboxRow::read,
        values.toArray());
  }

  private static String placeholders(int count) {
    return String.join(", ", Collections.nCopies(count, "?"));
  }

  @Override
  public List<SandboxId> giveUp(String owner, Collection<SandboxId> ids) {
    if (ids.isEmpty()) {
      return List.of();
    }
    List<Object> values = new ArrayList<>(List.of(owner));
    ids.forEach(id -> values.add(id.value()));
    return database.write(
        c ->
            Sql.list(
                c,
                "update sandbox set owner = '', fence = fence + 1, revision = revision + 1"
                    + " where owner = ? and state in ('RUNNING', 'PAUSED', 'STOPPED') and id in ("
                    + placeholders(ids.size())
                    + ") returning id",
                row -> new SandboxId(row.text("id")),
                values.toArray()));
  }

  @Override
  public int adopt(String owner) {
    return database.write(
        c ->
            Sql.update(
                c,
                "update sandbox set owner = ?, fence = fence + 1, revision = revision + 1"
                    + " where owner = '' and state <> 'DESTROYED'",
                owner));
  }

  @Override
  public Map<SandboxId, String> findOpen(Collection<SandboxId> ids) {
    List<SandboxId> all = List.copyOf(ids);
    Map<SandboxId, String> open = new HashMap<>();
    for (int from = 0; from < all.size(); from += MAX_LIMIT) {
      List<SandboxId> some = all.subList(from, Math.min(all.size(), from + MAX_LIMIT));
      database
          .read(
              c ->
                  Sql.list(
                      c,
                      "select id, provider from sandbox where state <> 'DESTROYED' and id in ("
                          + placeholders(some.size())
                          + ")",
                      row -> Map.entry(new SandboxId(row.text("id")), row.text("provider")),
                      some.stream().map(SandboxId::value).toArray()))
          .forEach(one -> open.put(one.getKey(), one.getValue()));
    }
    return open;
  }

  private static List<SandboxEntry> readable(List<Optional<SandboxEntry>> rows) {
    return rows.stream().flatMap(Optional::stream).toList();
  }

  @Override
  public Optional<SandboxEntry> claimPooled(PoolClaim claim) {
    // Computed here because the two databases name the minimum of two values differently.
    Optional<Instant> idleAt =
        claim.idleTimeout().map(time -> Micros.instant(Micros.of(claim.now()) + Micros.of(time)));
    Optional<Instant> dueAt =
        claim.expiresAt().isPresent() && idleAt.isPresent()
            ? Optional.of(
                Collections.min(List.of(claim.expiresAt().orElseThrow(), idleAt.orElseThrow())))
            : claim.expiresAt().or(() -> idleAt);
    String sql =
        "update sandbox set tenant = ?, labels = ?, name = ?, pooled = 0, warm = 1,"
            + " revision = revision + 1, updated_at = ?, last_activity = ?, expires_at = ?,"
            + " idle_timeout = ?, due_at = ?"
            + " where id = (select id from sandbox where pooled = 1 and state = 'RUNNING'"
            + " and spec_hash = ? and provider = ? and tenant in ('', ?)"
            + (claim.owner().isPresent() ? " and owner = ?" : "")
            + " order by created_at, id limit 1"
            + database.dialect().skipLocked()
            + ") returning *";
    return database.write(
        c -> {
          if (claim.name().isPresent()
              && nameHolder(c, claim.tenant(), claim.name().get()).isPresent()) {
            return Optional.empty();
          }
          List<Object> values = new ArrayList<>();
          values.addAll(
              List.of(
                  claim.tenant(),
                  SandboxRow.labels(claim.labels()),
                  claim.name(),
                  claim.now(),
                  claim.now(),
                  claim.expiresAt(),
                  claim.idleTimeout(),
                  dueAt,
                  claim.specHash(),
                  claim.provider(),
                  claim.tenant()));
          claim.owner().ifPresent(values::add);
          Optional<SandboxEntry> claimed =
              Sql.one(c, sql, SandboxRow::read, values.toArray()).flatMap(found -> found);
          if (claimed.isPresent()) {
            writeLabels(c, claimed.get().id(), claim.labels());
          }
          return claimed;
        });
  }

  @Override
  public List<EntryCount> countByState() {
    return database.read(
        c ->
            Sql.list(
                c,
                "select provider, state, pooled, count(*) as number from sandbox"
                    + " where state <> 'DESTROYED' group by provider, state, pooled"
                    + " order by provider, state, pooled",
                row ->
                    new EntryCount(
                        row.text("provider"),
                        state(row.text("state")),
                        row.flag("pooled"),
                        row.number("number"))));
  }

  @Override
  public long countExpiring(Instant time) {
    // A sandbox is due when it expires or earlier; that condition has an index.
    return database.read(
        c ->
            Sql.list(
                    c,
                    "select count(*) as number from sandbox where due_at < ? and expires_at < ?",
                    row -> row.number("number"),
                    time,
                    time)
                .getFirst());
  }

  /** Maps a state that this version does not know to {@code ERROR}. */
  private static SandboxState state(String name) {
    return Stream.of(SandboxState.values())
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElse(SandboxState.ERROR);
  }

  @Override
  public List<Transition> transitions(SandboxId id) {
    return database.read(
        c ->
            Sql.list(
                c,
                "select revision, from_state, to_state, happened_at, cause from transition"
                    + " where sandbox_id = ? order by revision",
                row ->
                    new Transition(
                        row.number("revision"),
                        row.optionalText("from_state").map(SqlSandboxes::state),
                        state(row.text("to_state")),
                        row.time("happened_at"),
                        row.optionalText("cause")),
                id.value()));
  }

  @Override
  public int purge(Instant before) {
    String old = "(select id from sandbox where state = 'DESTROYED' and updated_at < ?)";
    // The deletes below scan whole tables, and usually there is nothing to purge.
    boolean none =
        database
            .read(
                c -> Sql.one(c, "select 1 as one from " + old + " gone limit 1", row -> 1, before))
            .isEmpty();
    if (none) {
      return 0;
    }
    return database.write(
        c -> {
          Sql.update(c, "delete from event where sandbox_id in " + old, before);
          Sql.update(c, "delete from event_queue where sandbox_id in " + old, before);
          Sql.update(c, "delete from idempotency_key where sandbox_id in " + old, before);
          Sql.update(c, "delete from label where sandbox_id in " + old, before);
          Sql.update(c, "delete from transition where sandbox_id in " + old, before);
          return Sql.update(
              c, "delete from sandbox where state = 'DESTROYED' and updated_at < ?", before);
        });
  }

  private static void writeLabels(Connection c, SandboxId id, Map<String, String> labels)
      throws SQLException {
    Sql.update(c, "delete from label where sandbox_id = ?", id.value());
    for (Map.Entry<String, String> label : labels.entrySet()) {
      Sql.update(
          c,
          "insert into label (sandbox_id, name, value) values (?, ?, ?)",
          id.value(),
          label.getKey(),
          label.getValue());
    }
  }

  private static void writeTransition(Connection c, Optional<SandboxState> from, SandboxEntry entry)
      throws SQLException {
    Sql.update(
        c,
        "insert into transition (sandbox_id, revision, from_state, to_state, happened_at, cause)"
            + " values (?, ?, ?, ?, ?, ?)",
        entry.id().value(),
        entry.revision(),
        from,
        entry.state(),
        entry.updatedAt(),
        entry.cause());
  }

  private static SandboxException missing(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_NOT_FOUND,
            "the ledger has no sandbox " + id,
            "list the sandboxes to find existing ids")
        .sandbox(id)
        .exception();
  }

  private static void checkLimit(int limit) {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw Fault.of(ErrorCode.INVALID_REQUEST, "invalid limit " + limit, "use 1 to " + MAX_LIMIT)
          .exception();
    }
  }
}
