package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;

import dev.isola.engine.reconcile.ReconcileInput;
import dev.isola.engine.reconcile.ReconcilePlanner;
import dev.isola.engine.reconcile.ReconcileStep;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares the sandboxes of one server with the backends, as {@link ReconcilePlanner} decides, one
 * step after the other. Also removes what its own machine has and the ledger does not.
 */
final class Reconciliation {
  private final SimulatedServer server;
  private final World world;

  Reconciliation(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
  }

  void run() {
    if (!server.isLeased()) {
      again();
      return;
    }
    world.roundTrips.begin(Operation.RECONCILE);
    server.database.call(
        Operation.RECONCILE,
        pages(),
        () -> server.sandboxes().open(server.name),
        before ->
            server.later(
                world.random.nextLong(50, 500) * MILLISECOND,
                () -> compare(before, inventories(before))),
        _ -> again());
  }

  private void again() {
    server.later(Scenario.RECONCILE_INTERVAL, this::run);
  }

  private int pages() {
    return 1 + server.sandboxes().countOpen(server.name) / SandboxEntries.MAX_LIMIT;
  }

  /** Returns what the backends have of these sandboxes, and everything that this machine has. */
  private Map<String, List<InventoryItem>> inventories(List<SandboxEntry> entries) {
    Map<String, List<InventoryItem>> inventories = new HashMap<>();
    Map<String, FakeBackend> backends = new HashMap<>();
    for (FakeBackend cluster : world.clusters) {
      inventories.put(cluster.name, new ArrayList<>());
      backends.put(cluster.name, cluster);
    }
    inventories.put(World.LOCAL, server.machine.inventory());
    for (SandboxEntry entry : entries) {
      FakeBackend cluster = backends.get(entry.provider());
      InventoryItem item = cluster == null ? null : cluster.find(entry.id());
      List<InventoryItem> list = inventories.get(entry.provider());
      if (item != null && list != null) {
        list.add(item);
      }
    }
    return inventories;
  }

  private void compare(List<SandboxEntry> before, Map<String, List<InventoryItem>> inventories) {
    server.database.call(
        Operation.RECONCILE,
        pages(),
        () -> server.sandboxes().open(server.name),
        after -> {
          Map<SandboxId, String> recorded = HashMap.newHashMap(after.size());
          after.forEach(entry -> recorded.put(entry.id(), entry.provider()));
          server.retain(recorded.keySet());
          after.stream()
              .filter(entry -> entry.state() == SandboxState.RUNNING)
              .forEach(server::adopt);
          List<ReconcileStep> steps =
              ReconcilePlanner.plan(
                  new ReconcileInput(
                      before, inventories, recorded, server.inTransition, Set.of()));
          next(steps.iterator());
        },
        _ -> again());
  }

  private void next(Iterator<ReconcileStep> rest) {
    while (rest.hasNext()) {
      ReconcileStep step = rest.next();
      if (!(step instanceof ReconcileStep.Attach)) {
        execute(step, () -> next(rest));
        return;
      }
    }
    again();
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
      case ReconcileStep.RemoveUnknown(String provider, SandboxId id) ->
          new UnknownSandboxes(server).remove(provider, id, done);
      case ReconcileStep.Attach _ -> done.run();
      case ReconcileStep.CorrectState _,
              ReconcileStep.DiscardSuspended _,
              ReconcileStep.LeaveUnrecorded _ ->
          throw new IllegalStateException("not part of the simulation: " + step);
    }
  }

  private void markLost(SandboxEntry entry, String why, Runnable done) {
    boolean expired =
        entry.expiresAt().filter(end -> !end.isAfter(server.clock())).isPresent();
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
}
