package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;

import dev.isola.engine.reconcile.InventoryDifference;
import dev.isola.engine.reconcile.InventoryDifferences;
import dev.isola.engine.reconcile.ReconcileInput;
import dev.isola.engine.reconcile.ReconcilePlanner;
import dev.isola.engine.reconcile.ReconcileStep;
import dev.isola.engine.reconcile.RestoreGaps;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reconciles the sandboxes of one server, as {@link ReconcilePlanner} decides, and carries out its
 * steps. Also removes what a backend has and the ledger does not.
 */
final class Reconciliation {
  private final SimulatedServer server;
  private final World world;
  private final List<String> clusters;
  private final Workers<ReconcileStep> workers;

  /** What a server reads of the ledger. */
  private record Read(
      List<SandboxEntry> entries, Map<SandboxId, InventoryDifference> differences) {}

  Reconciliation(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
    clusters = world.clusters.stream().map(cluster -> cluster.name).toList();
    workers = new Workers<>(server, step -> List.of(step.provider(), step.id()));
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
        ledger ->
            new Read(
                ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().owner(server.name)),
                InventoryDifferences.read(ledger, clusters, server.name)),
        read ->
            server.later(
                world.random.nextLong(50, 500) * MILLISECOND,
                () -> compare(read, server.machine.inventory(), done)),
        _ -> done.run());
  }

  boolean skipsCheck() {
    return world.scenario.planted() == PlantedFault.REMOVAL_WITHOUT_CHECK;
  }

  /** Compares with this machine, and takes over what another server has found in the clusters. */
  private void compare(Read read, List<InventoryItem> machine, Runnable done) {
    List<SandboxEntry> before = read.entries();
    List<SandboxId> ids = machine.stream().map(InventoryItem::id).toList();
    server.database.call(
        Operation.RECONCILE,
        ledger -> ledger.sandboxes().findOpen(ids),
        after -> {
          List<ReconcileStep> steps =
              new ArrayList<>(
                  ReconcilePlanner.plan(
                      new ReconcileInput(
                          before,
                          Map.of(World.LOCAL, machine),
                          after,
                          server.inTransition,
                          Set.of())));
          steps.addAll(
              ReconcilePlanner.planOwned(
                  before.stream().filter(world::isShared).toList(),
                  read.differences(),
                  server.inTransition,
                  RestoreGaps.NONE));
          attach(before, steps);
          execute(steps, done);
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

  /** Carries out steps, several at a time for each provider. */
  void execute(List<ReconcileStep> steps, Runnable done) {
    workers.run(
        ordered(steps),
        ReconcileStep::provider,
        this::execute,
        Scenario.STEPS_LIMIT,
        _ -> done.run());
  }

  private void execute(ReconcileStep step, Runnable done) {
    switch (step) {
      case ReconcileStep.MarkLost(SandboxEntry entry, String why) -> markLost(entry, why, done);
      case ReconcileStep.VerifyLost(SandboxEntry entry, String why) ->
          world
              .backend(entry)
              .verify(
                  server,
                  entry.id(),
                  exists -> {
                    if (exists) {
                      done.run();
                    } else {
                      markLost(entry, why, done);
                    }
                  });
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
