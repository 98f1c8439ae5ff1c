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
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Sandboxes with their owners. The indexes are those that the real tables have. */
public final class InMemorySandboxes implements SandboxEntries {
  /** The owner of the sandboxes of a server that has the ledger to itself. */
  private static final String NO_OWNER = "";

  private static final Set<SandboxState> GIVEN_UP =
      Set.of(SandboxState.RUNNING, SandboxState.PAUSED, SandboxState.STOPPED);

  private final InMemoryLedger ledger;
  private final InMemoryEvents events;
  private final InMemoryIdempotencyKeys keys;
  private final boolean history;
  private final Map<SandboxId, InMemoryRow> rows = new HashMap<>();
  private final Map<String, Index> owners = new HashMap<>();
  private final Map<String, SandboxId> names = new HashMap<>();
  private BiConsumer<SandboxEntry, SandboxEntry> takeOverListener = (_, _) -> {};
  private boolean fenced = true;

  InMemorySandboxes(
      InMemoryLedger ledger, InMemoryEvents events, InMemoryIdempotencyKeys keys, boolean history) {
    this.ledger = ledger;
    this.events = events;
    this.keys = keys;
    this.history = history;
  }

  /** Calls a listener with the former and the new entry of every sandbox that is taken over. */
  public void onTakeOver(BiConsumer<SandboxEntry, SandboxEntry> listener) {
    takeOverListener = listener;
  }

  /** Plants a fault: a sandbox keeps its fence when its owner changes. */
  public void plantTakeOverWithoutFence() {
    fenced = false;
  }

  @Override
  public SandboxEntry insert(SandboxEntry entry) {
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
          InMemoryRow row = new InMemoryRow(stored);
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
    Index index = owned(entry.owner());
    index.open.put(Position.of(entry), row);
    entry.dueAt().ifPresent(due -> index.due.put(due(entry, due), row));
    entry.name().ifPresent(name -> names.put(nameKey(entry.tenant(), name), entry.id()));
  }

  private void unindex(InMemoryRow row) {
    SandboxEntry entry = row.entry;
    if (entry.state() == SandboxState.DESTROYED) {
      return;
    }
    Index index = owned(entry.owner());
    index.open.remove(Position.of(entry));
    entry.dueAt().ifPresent(due -> index.due.remove(due(entry, due)));
    entry.name().ifPresent(name -> names.remove(nameKey(entry.tenant(), name)));
  }

  private static Position due(SandboxEntry entry, Instant at) {
    return new Position(Micros.of(at), entry.id().value());
  }

  private void replace(InMemoryRow row, SandboxEntry entry) {
    SandboxEntry before = row.entry;
    set(row, entry);
    boolean moved = before.state() != entry.state();
    if (moved) {
      addTransition(row, Optional.of(before.state()));
    }
    ledger.onRollback(
        () -> {
          set(row, before);
          if (moved && history) {
            row.transitions.removeLast();
          }
        });
  }

  private void set(InMemoryRow row, SandboxEntry entry) {
    unindex(row);
    row.entry = entry;
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
    return ledger.locked(() -> Optional.ofNullable(rows.get(id)).map(row -> row.entry));
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
          replace(row, after);
          return new UpdateResult.Written(after);
        });
  }

  @Override
  public List<SandboxEntry> takeOver(TakeOver request) {
    return ledger.locked(
        () -> {
          List<String> former = new ArrayList<>(List.of(NO_OWNER));
          former.addAll(ledger.servers().withoutLease(request.owner()));
          List<InMemoryRow> batch =
              former.stream()
                  .flatMap(name -> candidates(request, name))
                  .filter(row -> request.providers().contains(row.entry.provider()))
                  .filter(row -> isExpired(row.entry, request.expiredBefore()))
                  .limit(request.limit())
                  .toList();
          return batch.stream().map(row -> takeOver(row, request.owner())).toList();
        });
  }

  private Stream<InMemoryRow> candidates(TakeOver request, String owner) {
    return request.id().isEmpty()
        ? owned(owner).open.values().stream()
        : request.id().map(rows::get).stream()
            .filter(row -> row.entry.owner().equals(owner))
            .filter(row -> row.entry.state() != SandboxState.DESTROYED);
  }

  private static boolean isExpired(SandboxEntry entry, Optional<Instant> before) {
    return before.isEmpty()
        || entry.expiresAt().filter(end -> end.isBefore(before.get())).isPresent();
  }

  private SandboxEntry takeOver(InMemoryRow row, String owner) {
    SandboxEntry before = row.entry;
    replace(row, withOwner(before, owner, fenced ? before.fence() + 1 : before.fence()));
    takeOverListener.accept(before, row.entry);
    return row.entry;
  }

  private static SandboxEntry withOwner(SandboxEntry entry, String owner, long fence) {
    return new SandboxEntry(
        entry.id(),
        entry.tenant(),
        entry.spec(),
        entry.specHash(),
        entry.provider(),
        entry.isolation(),
        entry.state(),
        entry.revision() + 1,
        entry.createdAt(),
        entry.updatedAt(),
        entry.expiresAt(),
        entry.idleTimeout(),
        entry.lastActivity(),
        entry.warm(),
        entry.pooled(),
        entry.cause(),
        entry.attempts(),
        entry.labels(),
        entry.whenIdle(),
        entry.whenExpired(),
        entry.suspension(),
        entry.baseImage(),
        entry.name(),
        owner,
        fence,
        entry.damage());
  }

  @Override
  public List<SandboxId> giveUp(String owner, Collection<SandboxId> ids) {
    return ledger.locked(
        () -> {
          List<InMemoryRow> given =
              ids.stream()
                  .map(rows::get)
                  .filter(Objects::nonNull)
                  .filter(row -> row.entry.owner().equals(owner))
                  .filter(row -> GIVEN_UP.contains(row.entry.state()))
                  .toList();
          given.forEach(row -> replace(row, withOwner(row.entry, NO_OWNER, row.entry.fence() + 1)));
          return given.stream().map(row -> row.entry.id()).toList();
        });
  }

  @Override
  public int adopt(String owner) {
    return ledger.locked(
        () -> {
          List<InMemoryRow> open = List.copyOf(owned(NO_OWNER).open.values());
          open.forEach(row -> replace(row, withOwner(row.entry, owner, row.entry.fence() + 1)));
          return open.size();
        });
  }

  @Override
  public Map<SandboxId, String> findOpen(Collection<SandboxId> ids) {
    return ledger.locked(
        () -> {
          Map<SandboxId, String> open = HashMap.newHashMap(ids.size());
          for (SandboxId id : ids) {
            InMemoryRow row = rows.get(id);
            if (row != null && row.entry.state() != SandboxState.DESTROYED) {
              open.put(id, row.entry.provider());
            }
          }
          return open;
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
              SandboxEntry touched = row.entry.toBuilder().lastActivity(at).updatedAt(at).build();
              replace(row, touched.withRevision(row.entry.revision() + 1));
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
        && filter.reference().filter(one -> !isReference(one, entry)).isEmpty()
        && filter.owner().filter(one -> !one.equals(entry.owner())).isEmpty();
  }

  private static boolean isReference(String text, SandboxEntry entry) {
    return entry.name().equals(Optional.of(text))
        || entry.id().value().equals(text)
        || (text.length() >= EntryFilter.SHORTEST_PREFIX && entry.id().value().startsWith(text));
  }

  /** Returns the open sandboxes of an owner or of a provider without looking through all rows. */
  @Override
  public List<SandboxEntry> listAll(EntryFilter filter) {
    EntryFilter open = EntryFilter.ALL.notDestroyed();
    if (filter.owner().isPresent() && filter.equals(open.owner(filter.owner().get()))) {
      return ledger.locked(
          () -> owned(filter.owner().get()).open.values().stream().map(row -> row.entry).toList());
    }
    if (filter.provider().isPresent() && filter.equals(open.provider(filter.provider().get()))) {
      return open().stream()
          .filter(entry -> entry.provider().equals(filter.provider().get()))
          .toList();
    }
    return SandboxEntries.super.listAll(filter);
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

  /** Returns the number of sandboxes of a server that are not destroyed. */
  int countOpen(String owner) {
    return ledger.locked(() -> owned(owner).open.size());
  }

  @Override
  public List<SandboxEntry> findExpired(
      Optional<String> owner, Set<String> except, Instant now, int limit) {
    checkLimit(limit);
    return ledger.locked(
        () ->
            (owner.isPresent()
                    ? due(owned(owner.get()), now)
                    : owners.values().stream()
                        .flatMap(index -> due(index, now))
                        .sorted(Comparator.comparing(entry -> entry.dueAt().orElseThrow())))
                .filter(entry -> !except.contains(entry.provider()))
                .limit(limit)
                .toList());
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
                replace(row, claimed);
                return claimed;
              });
        });
  }

  private static boolean isPooled(SandboxEntry entry, PoolClaim claim) {
    return entry.pooled()
        && entry.state() == SandboxState.RUNNING
        && entry.specHash().equals(claim.specHash())
        && entry.provider().equals(claim.provider())
        && claim.owner().filter(one -> !one.equals(entry.owner())).isEmpty()
        && (entry.tenant().isEmpty() || entry.tenant().equals(claim.tenant()));
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

  private static void checkLimit(int limit) {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw Fault.of(ErrorCode.INVALID_REQUEST, "invalid limit " + limit, "use 1 to " + MAX_LIMIT)
          .exception();
    }
  }
}
