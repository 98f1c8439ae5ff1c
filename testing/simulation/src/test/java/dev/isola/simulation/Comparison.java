package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;

import dev.isola.engine.reconcile.InventoryDifferences;
import dev.isola.engine.reconcile.ReconcileInput;
import dev.isola.engine.reconcile.ReconcilePlanner;
import dev.isola.engine.reconcile.ReconcileStep;
import dev.isola.engine.reconcile.RestoreGaps;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares the inventories of the clusters for all servers, as the engine's {@code
 * SharedReconciler} does: one server claims each of them in an interval.
 */
final class Comparison {
  private static final Duration INTERVAL =
      Duration.of(Scenario.RECONCILE_INTERVAL, ChronoUnit.MICROS);

  private final SimulatedServer server;
  private final World world;
  private final Reconciliation steps;

  Comparison(SimulatedServer server, Reconciliation steps) {
    this.server = server;
    this.world = server.world;
    this.steps = steps;
  }

  /** Compares now and again after each interval. */
  void run() {
    world.clusters.forEach(this::claim);
    server.later(Scenario.RECONCILE_INTERVAL, this::run);
  }

  private void claim(FakeBackend cluster) {
    server.database.call(
        Operation.RECONCILE,
        _ -> server.membership().lease.claim("inventory of " + cluster.name, INTERVAL),
        claimed -> {
          if (claimed) {
            read(cluster);
          }
        },
        _ -> {});
  }

  private void read(FakeBackend cluster) {
    world.roundTrips.begin(Operation.COMPARE);
    server.database.call(
        Operation.COMPARE,
        ledger -> ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().provider(cluster.name)),
        before -> {
          Map<SandboxId, String> early = steps.skipsCheck() ? recorded(before) : Map.of();
          server.later(
              world.random.nextLong(500, 3000) * MILLISECOND, () -> lookUp(cluster, before, early));
        },
        _ -> {});
  }

  private static Map<SandboxId, String> recorded(List<SandboxEntry> entries) {
    Map<SandboxId, String> recorded = HashMap.newHashMap(entries.size());
    entries.forEach(entry -> recorded.put(entry.id(), entry.provider()));
    return recorded;
  }

  private void lookUp(
      FakeBackend cluster, List<SandboxEntry> before, Map<SandboxId, String> early) {
    List<InventoryItem> inventory = cluster.inventory();
    Set<SandboxId> present = HashSet.newHashSet(inventory.size());
    inventory.forEach(item -> present.add(item.id()));
    Set<SandboxId> unknown = new HashSet<>(present);
    before.forEach(entry -> unknown.remove(entry.id()));
    server.database.call(
        Operation.COMPARE,
        ledger ->
            steps.skipsCheck() || unknown.isEmpty() ? early : ledger.sandboxes().findOpen(unknown),
        after -> compare(cluster, before, inventory, present, after),
        _ -> {});
  }

  private void compare(
      FakeBackend cluster,
      List<SandboxEntry> before,
      List<InventoryItem> inventory,
      Set<SandboxId> present,
      Map<SandboxId, String> after) {
    List<ReconcileStep> found =
        ReconcilePlanner.plan(
            new ReconcileInput(
                before, Map.of(cluster.name, inventory), after, server.inTransition, Set.of()));
    server.database.call(
        Operation.COMPARE,
        ledger -> {
          InventoryDifferences.replace(
              ledger, cluster.name, ReconcilePlanner.differences(found, present, RestoreGaps.NONE));
          return true;
        },
        _ ->
            steps.execute(
                found.stream().filter(one -> one.recorded().isEmpty()).toList(), () -> {}),
        _ -> {});
  }
}
