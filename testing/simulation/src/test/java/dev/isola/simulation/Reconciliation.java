package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;

import dev.isola.engine.reconcile.ReconcileInput;
import dev.isola.engine.reconcile.ReconcilePlanner;
import dev.isola.engine.reconcile.ReconcileStep;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Compares the sandboxes of one server with the backends, as {@link ReconcilePlanner} decides, one
 * step after the other. Also removes what a backend has and the ledger does not.
 */
final class Reconciliation {
  private final SimulatedServer server;
  private final World world;

  Reconciliation(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
  }

  /** Reconciles now and again after each interval. */
  void run() {
    if (server.isCurrent()) {
      runOnce(this::again);
    } else {
      again();
    }
  }

  private void again() {
    server.later(Scenario.RECONCILE_INTERVAL, this::run);
  }

  void runOnce(Runnable done) {
    world.roundTrips.begin(Operation.RECONCILE);
    server.database.call(
        Operation.RECONCILE,
        ledger -> ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().owner(server.name)),
        before -> {
          Map<SandboxId, String> early =
              skipsCheck() ? recorded(world.ledger.sandboxes().open()) : Map.of();
          server.later(
              world.random.nextLong(50, 500) * MILLISECOND,
              () -> compare(before, inventories(before), early, done));
        },
        _ -> done.run());
  }

  private static Map<SandboxId, String> recorded(List<SandboxEntry> entries) {
    Map<SandboxId, String> recorded = HashMap.newHashMap(entries.size());
    entries.forEach(entry -> recorded.put(entry.id(), entry.provider()));
    return recorded;
  }

  private boolean skipsCheck() {
    return world.scenario.planted() == PlantedFault.REMOVAL_WITHOUT_CHECK;
  }

  /** Returns what this machine and the clusters have. */
  private Map<String, List<InventoryItem>> inventories(List<SandboxEntry> entries) {
    Map<String, List<InventoryItem>> inventories = new HashMap<>();
    inventories.put(World.LOCAL, server.machine.inventory());
    for (FakeBackend cluster : world.clusters) {
      inventories.put(
          cluster.name,
          world.scenario.comparesWholeInventories()
              ? cluster.inventory()
              : relevant(cluster, entries));
    }
    return inventories;
  }

  /** Returns the items of these entries, and those that may not be recorded. */
  private static List<InventoryItem> relevant(FakeBackend cluster, List<SandboxEntry> entries) {
    List<InventoryItem> items = new ArrayList<>();
    Set<SandboxId> suspects = new TreeSet<>(cluster.suspects);
    for (SandboxEntry entry : entries) {
      InventoryItem item = entry.provider().equals(cluster.name) ? cluster.find(entry.id()) : null;
      if (item != null) {
        items.add(item);
        suspects.remove(entry.id());
      }
    }
    for (SandboxId id : suspects) {
      InventoryItem item = cluster.find(id);
      if (item == null) {
        cluster.suspects.remove(id);
      } else {
        items.add(item);
      }
    }
    return items;
  }

  private void compare(
      List<SandboxEntry> before,
      Map<String, List<InventoryItem>> inventories,
      Map<SandboxId, String> early,
      Runnable done) {
    List<SandboxId> ids = new ArrayList<>();
    inventories.values().forEach(items -> items.forEach(item -> ids.add(item.id())));
    long omitted = (long) server.machine.size() - ids.size();
    for (FakeBackend cluster : world.clusters) {
      omitted += cluster.size();
    }
    long counted = Math.max(0, omitted);
    server.database.call(
        Operation.RECONCILE,
        ledger -> {
          ledger.countLookup(counted);
          return skipsCheck() ? early : ledger.sandboxes().findOpen(ids);
        },
        after -> {
          List<ReconcileStep> steps =
              ReconcilePlanner.plan(
                  new ReconcileInput(before, inventories, after, server.inTransition, Set.of()));
          attach(before, steps);
          next(ordered(steps).iterator(), done);
        },
        _ -> done.run());
  }

  /** Attaches to the sandboxes of which this server has learned only now. */
  private void attach(List<SandboxEntry> before, List<ReconcileStep> steps) {
    server.retain(before.stream().map(SandboxEntry::id).collect(Collectors.toSet()));
    for (ReconcileStep step : steps) {
      if (step instanceof ReconcileStep.Attach(SandboxEntry entry)
          && entry.state() == SandboxState.RUNNING
          && !server.isAttached(entry.id())) {
        server.attach(entry);
      }
    }
  }

  /** Returns the steps without those that are done, in an order that does not depend on hashes. */
  private static List<ReconcileStep> ordered(List<ReconcileStep> steps) {
    List<ReconcileStep> ordered = new ArrayList<>();
    List<ReconcileStep.RemoveUnknown> removals = new ArrayList<>();
    for (ReconcileStep step : steps) {
      switch (step) {
        case ReconcileStep.RemoveUnknown removal -> removals.add(removal);
        case ReconcileStep.Attach _ -> {}
        default -> ordered.add(step);
      }
    }
    removals.sort(Comparator.comparing(ReconcileStep.RemoveUnknown::id));
    ordered.addAll(removals);
    return ordered;
  }

  private void next(Iterator<ReconcileStep> rest, Runnable done) {
    if (rest.hasNext()) {
      execute(rest.next(), () -> next(rest, done));
    } else {
      done.run();
    }
  }

  private void execute(ReconcileStep step, Runnable done) {
    switch (step) {
      case ReconcileStep.MarkLost(SandboxEntry entry, String why) -> markLost(entry, why, done);
      case ReconcileStep.FinishDestroy(SandboxEntry entry) -> {
        Destruction destruction = new Destruction(server, Operation.DESTROY);
        if (entry.state() == SandboxState.TERMINATING) {
          destruction.finish(entry, done);
        } else {
          destruction.begin(entry, entry.cause().orElse("interrupted"), done);
        }
      }
      case ReconcileStep.RemoveUnknown(String provider, SandboxId id) -> remove(provider, id, done);
      case ReconcileStep.Attach _ -> done.run();
      case ReconcileStep.CorrectState _,
          ReconcileStep.DiscardSuspended _,
          ReconcileStep.LeaveUnrecorded _ ->
          throw new IllegalStateException("not part of the simulation: " + step);
    }
  }

  private void markLost(SandboxEntry entry, String why, Runnable done) {
    boolean expired = entry.expiresAt().filter(end -> !end.isAfter(server.clock())).isPresent();
    if (server.inTransition.contains(entry.id())
        || (entry.state() != SandboxState.CREATING && expired)) {
      done.run(); // it reached its deadline; expiry handles it
      return;
    }
    server.write(
        Operation.DESTROY,
        entry.withState(SandboxState.ERROR, server.clock(), why),
        result -> {
          if (result instanceof UpdateResult.Written(SandboxEntry lost)) {
            new Destruction(server, Operation.DESTROY).begin(lost, why, done);
          } else {
            done.run();
          }
        },
        _ -> done.run());
  }

  /** Removes a sandbox if the ledger still does not know it. */
  private void remove(String provider, SandboxId id, Runnable done) {
    FakeBackend backend = world.backend(provider, server.name);
    if (world.scenario.planted() == PlantedFault.NO_REMOVAL) {
      done.run();
      return;
    }
    if (skipsCheck()) {
      backend.destroy(server, id, _ -> done.run());
      return;
    }
    server.database.call(
        Operation.RECONCILE,
        ledger -> ledger.isOpen(id, provider),
        recorded -> {
          if (recorded || server.inTransition.contains(id)) {
            done.run();
          } else {
            backend.destroy(server, id, _ -> done.run());
          }
        },
        _ -> done.run());
  }
}
