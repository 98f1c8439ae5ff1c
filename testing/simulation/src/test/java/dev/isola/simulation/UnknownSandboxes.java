package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;
import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.engine.reconcile.ReconcileInput;
import dev.isola.engine.reconcile.ReconcilePlanner;
import dev.isola.engine.reconcile.ReconcileStep;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Removes sandboxes from the clusters that the ledger does not know. One server does it in each
 * interval, and looks into the ledger again before it removes anything.
 */
final class UnknownSandboxes {
  private static final String TASK = "unknown";

  private final SimulatedServer server;
  private final World world;

  UnknownSandboxes(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
  }

  void run() {
    server.later(Scenario.UNKNOWN_INTERVAL, this::run);
    if (!server.isLeased() || world.scenario.planted() == PlantedFault.NO_REMOVAL) {
      return;
    }
    server.database.call(
        Operation.UNKNOWN,
        () -> world.leases.claim(TASK, Scenario.UNKNOWN_INTERVAL),
        claimed -> {
          if (claimed) {
            world.roundTrips.begin(Operation.UNKNOWN);
            search();
          }
        },
        _ -> {});
  }

  private boolean skipsCheck() {
    return world.scenario.planted() == PlantedFault.REMOVAL_WITHOUT_CHECK;
  }

  private void search() {
    if (skipsCheck()) {
      list(recorded -> inventories(inventories -> plan(inventories, recorded)));
    } else {
      inventories(inventories -> list(recorded -> plan(inventories, recorded)));
    }
  }

  private void inventories(
      java.util.function.Consumer<Map<String, List<InventoryItem>>> then) {
    server.later(
        world.random.nextLong(500, 3000) * MILLISECOND,
        () -> {
          Map<String, List<InventoryItem>> inventories = new HashMap<>();
          world.clusters.forEach(one -> inventories.put(one.name, one.inventory()));
          server.later(SECOND, () -> then.accept(inventories));
        });
  }

  private void list(java.util.function.Consumer<Map<SandboxId, String>> then) {
    server.database.call(
        Operation.UNKNOWN,
        1 + server.sandboxes().countOpen() / SandboxEntries.MAX_LIMIT,
        () -> {
          List<SandboxEntry> open = server.sandboxes().open();
          Map<SandboxId, String> recorded = HashMap.newHashMap(open.size());
          open.forEach(entry -> recorded.put(entry.id(), entry.provider()));
          return recorded;
        },
        then,
        _ -> {});
  }

  private void plan(
      Map<String, List<InventoryItem>> inventories, Map<SandboxId, String> recorded) {
    List<ReconcileStep> steps =
        ReconcilePlanner.plan(
            new ReconcileInput(List.of(), inventories, recorded, Set.of(), Set.of()));
    next(
        steps.stream()
            .map(ReconcileStep.RemoveUnknown.class::cast)
            .sorted(Comparator.comparing(ReconcileStep.RemoveUnknown::id))
            .iterator());
  }

  private void next(Iterator<ReconcileStep.RemoveUnknown> rest) {
    if (rest.hasNext()) {
      ReconcileStep.RemoveUnknown step = rest.next();
      remove(step.provider(), step.id(), () -> next(rest));
    }
  }

  /** Removes a sandbox if the ledger still does not know it. */
  void remove(String provider, SandboxId id, Runnable done) {
    FakeBackend backend = world.backend(provider, server.name);
    if (skipsCheck()) {
      backend.destroy(server, id, _ -> done.run());
      return;
    }
    server.database.call(
        Operation.UNKNOWN,
        () ->
            server
                .sandboxes()
                .find(id)
                .filter(entry -> entry.state() != SandboxState.DESTROYED)
                .filter(entry -> entry.provider().equals(provider))
                .isPresent(),
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
