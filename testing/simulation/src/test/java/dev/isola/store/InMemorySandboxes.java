package dev.isola.store;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.StateTransition;
import dev.isola.store.InMemoryRow.Index;
import dev.isola.store.InMemoryRow.Position;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Sandboxes with their owners. The indexes are those that the real tables have. */
public final class InMemorySandboxes implements SandboxEntries {
  /** The owner of sandboxes that {@link #insert} stores. */
  private static final String NO_OWNER = "";

  private final InMemoryLedger ledger;
  private final InMemoryEvents events;
  private final InMemoryIdempotencyKeys keys;
  private final boolean history;
  private final Map<SandboxId, InMemoryRow> rows = new HashMap<>();
  private final Map<String, Index> owners = new HashMap<>();
  private final Map<String, SandboxId> names = new HashMap<>();

  InMemorySandboxes(
      InMemoryLedger ledger, InMemoryEvents events, InMemoryIdempotencyKeys keys, boolean history) {
    this.ledger = ledger;
    this.events = events;
    this.keys = keys;
    this.history = history;
  }

  @Override
  public SandboxEntry insert(SandboxEntry entry) {
    return insert(entry, NO_OWNER);
  }

  /** Inserts a sandbox that a server owns, with fence 1. */
  public SandboxEntry insert(SandboxEntry entry, String owner) {
    if (entry.state() != SandboxState.CREATING || entry.revision() != 0) {
      throw new IllegalArgumentException(
          "an intent must have state CREATING and revision 0: " + entry.id());
    }
    return ledger.locked(
        () -> {
          SandboxEntry stored = storable(entry).withRevision(1);
          stored
              .name()
              .map(name -> names.get(nameKey(stored.tenant(), name)))
              .filter(holder -> !holder.equals(stored.id()))
              .ifPresent(
                  holder -> {
                    throw nameConflict(stored, holder);
                  });
          if (rows.containsKey(stored.id())) {
            throw Fault.of(
                    ErrorCode.CONFLICT,
                    "sandbox " + stored.id() + " already exists",
                    "use another id")
                .sandbox(stored.id())
                .exception();
          }
          InMemoryRow row = new InMemoryRow(stored, owner);
          rows.put(stored.id(), row);
          index(row);
          addTransition(row, Optional.empty());
          ledger.onRollback(
              () -> {
                unindex(row);
                rows.remove(stored.id());
              });
          return stored;
        });
  }

  private static SandboxException nameConflict(SandboxEntry intent, SandboxId holder) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the name '" + intent.name().orElseThrow() + "' belongs to sandbox " + holder,
            "use another name, or destroy that sandbox first")
        .sandbox(holder)
        .exception();
  }

  private static SandboxEntry storable(SandboxEntry entry) {
    return entry.cause().isEmpty()
        ? entry
        : entry.toBuilder().cause(Sql.storable(entry.cause().get())).build();
  }

  private static String nameKey(String tenant, String name) {
    return tenant + "\0" + name;
  }

  private Index owned(String owner) {
    return owners.computeIfAbsent(owner, _ -> new Index());
  }

  private void index(InMemoryRow row) {
    SandboxEntry entry = row.entry;
    if (entry.state() == SandboxState.DESTROYED) {
      return;
    }
    Index index = owned(row.owner);
    index.open.put(Position.of(entry), row);
    entry.dueAt().ifPresent(due -> index.due.put(due(entry, due), row));
    entry.name().ifPresent(name -> names.put(nameKey(entry.tenant(), name), entry.id()));
  }

  private void unindex(InMemoryRow row) {
    SandboxEntry entry = row.entry;
    if (entry.state() == SandboxState.DESTROYED) {
      return;
    }
    Index index = owned(row.owner);
    index.open.remove(Position.of(entry));
    entry.dueAt().ifPresent(due -> index.due.remove(due(entry, due)));
    entry.name().ifPresent(name -> names.remove(nameKey(entry.tenant(), name)));
  }

  private static Position due(SandboxEntry entry, Instant at) {
    return new Position(Micros.of(at), entry.id().value());
  }

  /** Replaces the entry and the owner of a row. */
  private void replace(InMemoryRow row, SandboxEntry entry, String owner, long fence) {
    SandboxEntry before = row.entry;
    String ownerBefore = row.owner;
    long fenceBefore = row.fence;
    set(row, entry, owner, fence);
    boolean moved = before.state() != entry.state();
    if (moved) {
      addTransition(row, Optional.of(before.state()));
    }
    ledger.onRollback(
        () -> {
          set(row, before, ownerBefore, fenceBefore);
          if (moved && history) {
            row.transitions.removeLast();
          }
        });
  }

  private void set(InMemoryRow row, SandboxEntry entry, String owner, long fence) {
    unindex(row);
    row.entry = entry;
    row.owner = owner;
    row.fence = fence;
    index(row);
  }

  private void addTransition(InMemoryRow row, Optional<SandboxState> from) {
    if (history) {
      SandboxEntry entry = row.entry;
      row.transitions.add(
          new Transition(entry.revision(), from, entry.state(), entry.updatedAt(), entry.cause()));
    }
  }

  @Override
  public Optional<SandboxEntry> find(SandboxId id) {
    return findOwned(id).map(OwnedEntry::entry);
  }

  /** Returns a sandbox with its owner. */
  public Optional<OwnedEntry> findOwned(SandboxId id) {
    return ledger.locked(() -> Optional.ofNullable(rows.get(id)).map(InMemorySandboxes::view));
  }

  private static OwnedEntry view(InMemoryRow row) {
    return new OwnedEntry(row.entry, row.owner, row.fence);
  }

  @Override
  public UpdateResult update(SandboxEntry entry) {
    return ledger.locked(
        () -> {
          InMemoryRow row = rows.get(entry.id());
          if (row == null) {
            throw Fault.of(
                    ErrorCode.SANDBOX_NOT_FOUND,
                    "the ledger has no sandbox " + entry.id(),
                    "list the sandboxes to find existing ids")
                .sandbox(entry.id())
                .exception();
          }
          SandboxEntry before = row.entry;
          if (before.revision() != entry.revision()) {
            return new UpdateResult.Stale(before);
          }
          if (!before.createdAt().equals(entry.createdAt())) {
            throw new IllegalArgumentException("createdAt must not change");
          }
          if (before.state() != entry.state()) {
            StateTransition.check(before.state(), entry.state(), entry.id());
          }
          SandboxEntry after = storable(entry).withRevision(entry.revision() + 1);
          replace(row, after, row.owner, row.fence);
          return new UpdateResult.Written(after);
        });
  }

  /**
   * Gives a sandbox another owner.
   *
   * @param fenced whether the fence increases; false is a planted fault
   * @return the sandbox as stored; empty if it changed since {@code known} was read
   */
  public Optional<OwnedEntry> takeOver(OwnedEntry known, String owner, boolean fenced) {
    return ledger.locked(
        () -> {
          InMemoryRow row = rows.get(known.entry().id());
          if (row == null || row.entry.revision() != known.entry().revision()) {
            return Optional.empty();
          }
          replace(
              row,
              row.entry.withRevision(row.entry.revision() + 1),
              owner,
              fenced ? row.fence + 1 : row.fence);
          return Optional.of(view(row));
        });
  }

  /**
   * Gives up to {@code limit} sandboxes of one server to another, oldest first, in one transaction.
   */
  public List<OwnedEntry> takeOver(
      String from, String owner, int limit, Predicate<SandboxEntry> condition, boolean fenced) {
    return ledger.locked(
        () -> {
          List<InMemoryRow> batch =
              owned(from).open.values().stream()
                  .filter(row -> condition.test(row.entry))
                  .limit(limit)
                  .toList();
          return batch.stream()
              .map(row -> takeOver(view(row), owner, fenced).orElseThrow())
              .toList();
        });
  }

  @Override
  public int touch(Map<SandboxId, Instant> lastActivity) {
    return ledger.locked(
        () -> {
          int written = 0;
          for (Map.Entry<SandboxId, Instant> each : lastActivity.entrySet()) {
            InMemoryRow row = rows.get(each.getKey());
            Instant at = Micros.truncate(each.getValue());
            if (row != null
                && SandboxEntry.isAlive(row.entry.state())
                && row.entry.lastActivity().isBefore(at)) {
              SandboxEntry touched =
                  row.entry.toBuilder().lastActivity(at).updatedAt(at).build();
              replace(
                  row, touched.withRevision(row.entry.revision() + 1), row.owner, row.fence);
              written++;
            }
          }
          return written;
        });
  }

  @Override
  public EntryPage list(EntryFilter filter, String after, int limit) {
    checkLimit(limit);
    Optional<Position> cursor =
        after.isEmpty()
            ? Optional.empty()
            : Optional.of(Cursor.decode(after))
                .map(at -> new Position(Micros.of(at.createdAt()), at.id()));
    return ledger.locked(
        () -> {
          Comparator<InMemoryRow> order = Comparator.comparing(row -> Position.of(row.entry));
          List<SandboxEntry> found =
              rows.values().stream()
                  .filter(row -> matches(filter, row.entry))
                  .filter(row -> cursor.isEmpty() || isAfter(row, cursor.get(), filter))
                  .sorted(filter.newestFirst() ? order.reversed() : order)
                  .map(row -> row.entry)
                  .limit(limit + 1L)
                  .toList();
          if (found.size() <= limit) {
            return new EntryPage(found, Optional.empty());
          }
          List<SandboxEntry> page = found.subList(0, limit);
          return new EntryPage(page, Optional.of(Cursor.after(page.getLast()).encoded()));
        });
  }

  private static boolean isAfter(InMemoryRow row, Position cursor, EntryFilter filter) {
    int order = Position.of(row.entry).compareTo(cursor);
    return filter.newestFirst() ? order < 0 : order > 0;
  }

  private static boolean matches(EntryFilter filter, SandboxEntry entry) {
    return filter.tenant().filter(one -> !one.equals(entry.tenant())).isEmpty()
        && (filter.states().isEmpty() || filter.states().contains(entry.state()))
        && filter.provider().filter(one -> !one.equals(entry.provider())).isEmpty()
        && entry.labels().entrySet().containsAll(filter.labels().entrySet())
        && filter.pooled().filter(one -> one != entry.pooled()).isEmpty()
        && filter.startedAfter().filter(time -> entry.createdAt().isBefore(time)).isEmpty()
        && filter.name().filter(one -> !entry.name().equals(Optional.of(one))).isEmpty()
        && filter.reference().filter(one -> !isReference(one, entry)).isEmpty();
  }

  private static boolean isReference(String text, SandboxEntry entry) {
    return entry.name().equals(Optional.of(text))
        || entry.id().value().equals(text)
        || (text.length() >= EntryFilter.SHORTEST_PREFIX && entry.id().value().startsWith(text));
  }

  /** Returns the sandboxes of a server that are not destroyed, in the order of creation. */
  public List<SandboxEntry> open(String owner) {
    return ledger.locked(
        () -> owned(owner).open.values().stream().map(row -> row.entry).toList());
  }

  public int countOpen(String owner) {
    return ledger.locked(() -> owned(owner).open.size());
  }

  public int countOpen() {
    return ledger.locked(
        () -> owners.values().stream().mapToInt(index -> index.open.size()).sum());
  }

  /** Returns whether a server has a sandbox, not destroyed, that satisfies a condition. */
  public boolean hasOpen(String owner, Predicate<SandboxEntry> condition) {
    return ledger.locked(
        () -> owned(owner).open.values().stream().anyMatch(row -> condition.test(row.entry)));
  }

  /** Returns all sandboxes that are not destroyed. */
  public List<SandboxEntry> open() {
    return ledger.locked(
        () ->
            owners.values().stream()
                .flatMap(index -> index.open.values().stream())
                .map(row -> row.entry)
                .toList());
  }

  @Override
  public List<SandboxEntry> findExpired(Instant now, int limit) {
    checkLimit(limit);
    return ledger.locked(
        () ->
            owners.values().stream()
                .flatMap(index -> due(index, now))
                .sorted(Comparator.comparing(entry -> entry.dueAt().orElseThrow()))
                .limit(limit)
                .toList());
  }

  /** Returns the due sandboxes of a server, the longest overdue first. */
  public List<SandboxEntry> findExpired(String owner, Instant now, int limit) {
    checkLimit(limit);
    return ledger.locked(() -> due(owned(owner), now).limit(limit).toList());
  }

  private static Stream<SandboxEntry> due(Index index, Instant now) {
    NavigableMap<Position, InMemoryRow> due =
        index.due.headMap(new Position(Micros.of(now) + 1, ""), false);
    return due.values().stream().map(row -> row.entry);
  }

  @Override
  public Optional<SandboxEntry> claimPooled(PoolClaim claim) {
    return ledger.locked(
        () -> {
          if (claim
              .name()
              .filter(name -> names.containsKey(nameKey(claim.tenant(), name)))
              .isPresent()) {
            return Optional.empty();
          }
          Optional<InMemoryRow> match =
              owners.values().stream()
                  .flatMap(index -> index.open.values().stream())
                  .filter(row -> isPooled(row.entry, claim))
                  .min(Comparator.comparing(row -> Position.of(row.entry)));
          return match.map(
              row -> {
                SandboxEntry claimed = claimed(row.entry, claim);
                replace(row, claimed, row.owner, row.fence);
                return claimed;
              });
        });
  }

  private static boolean isPooled(SandboxEntry entry, PoolClaim claim) {
    return entry.pooled()
        && entry.state() == SandboxState.RUNNING
        && entry.specHash().equals(claim.specHash())
        && entry.provider().equals(claim.provider())
        && Set.of("", claim.tenant()).contains(entry.tenant());
  }

  private static SandboxEntry claimed(SandboxEntry entry, PoolClaim claim) {
    return entry.toBuilder()
        .tenant(claim.tenant())
        .labels(claim.labels())
        .name(claim.name().orElse(null))
        .pooled(false)
        .warm(true)
        .updatedAt(claim.now())
        .lastActivity(claim.now())
        .expiresAt(claim.expiresAt().orElse(null))
        .idleTimeout(claim.idleTimeout().orElse(null))
        .build()
        .withRevision(entry.revision() + 1);
  }

  @Override
  public List<EntryCount> countByState() {
    record Group(String provider, SandboxState state, boolean pooled) {}
    Map<Group, Long> counts =
        open().stream()
            .collect(
                Collectors.groupingBy(
                    entry -> new Group(entry.provider(), entry.state(), entry.pooled()),
                    Collectors.counting()));
    return counts.entrySet().stream()
        .map(
            one ->
                new EntryCount(
                    one.getKey().provider(),
                    one.getKey().state(),
                    one.getKey().pooled(),
                    one.getValue()))
        .toList();
  }

  @Override
  public long countExpiring(Instant time) {
    return open().stream()
        .filter(entry -> SandboxEntry.isAlive(entry.state()))
        .filter(entry -> entry.expiresAt().filter(end -> end.isBefore(time)).isPresent())
        .count();
  }

  @Override
  public List<Transition> transitions(SandboxId id) {
    return ledger.locked(
        () -> {
          InMemoryRow row = rows.get(id);
          return row == null ? List.of() : List.copyOf(row.transitions);
        });
  }

  @Override
  public int purge(Instant before) {
    return ledger.locked(
        () -> {
          Map<SandboxId, InMemoryRow> old = new TreeMap<>();
          rows.forEach(
              (id, row) -> {
                if (row.entry.state() == SandboxState.DESTROYED
                    && row.entry.updatedAt().isBefore(before)) {
                  old.put(id, row);
                }
              });
          old.keySet().forEach(rows::remove);
          ledger.onRollback(() -> rows.putAll(old));
          events.removeOf(old.keySet());
          keys.removeOf(old.keySet());
          return old.size();
        });
  }

  /** Returns the number of rows, destroyed sandboxes included. */
  public int size() {
    return ledger.locked(rows::size);
  }

  /** Returns all ids, also of destroyed sandboxes. */
  public List<SandboxId> ids() {
    return ledger.locked(() -> new ArrayList<>(rows.keySet()));
  }

  private static void checkLimit(int limit) {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw Fault.of(ErrorCode.INVALID_REQUEST, "invalid limit " + limit, "use 1 to " + MAX_LIMIT)
          .exception();
    }
  }
}
