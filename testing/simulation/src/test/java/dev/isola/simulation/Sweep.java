package dev.isola.simulation;

import dev.isola.engine.lifecycle.ExpiryPlanner;
import dev.isola.engine.lifecycle.ExpiryStep;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntries;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Ends the due sandboxes of a server, some at a time, as {@link ExpiryPlanner} decides. */
final class Sweep {
  private final SimulatedServer server;
  private final World world;
  private final Workers<ExpiryStep> workers;

  Sweep(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
    workers = new Workers<>(server, ExpiryStep::id);
  }

  void run() {
    if (!server.isCurrent()) {
      again();
      return;
    }
    world.roundTrips.begin(Operation.SWEEP);
    Map<SandboxId, Instant> activity = new HashMap<>(server.touched);
    if (activity.isEmpty()) {
      find();
      return;
    }
    server.database.call(
        Operation.SWEEP,
        ledger -> ledger.sandboxes().touch(activity),
        _ -> {
          activity.forEach(server.touched::remove);
          find();
        },
        _ -> again());
  }

  private void find() {
    Instant now = server.clock();
    int most = Math.min(SandboxEntries.MAX_LIMIT, Scenario.SWEEP_BATCH + workers.pending());
    server.database.call(
        Operation.SWEEP,
        ledger -> ledger.sandboxes().findExpired(Optional.of(server.name), Set.of(), now, most),
        due -> {
          List<ExpiryStep> steps =
              ExpiryPlanner.plan(due, now, Set.of()).stream()
                  .filter(step -> !workers.isPending(step))
                  .toList();
          if (steps.isEmpty()) {
            again();
          } else {
            execute(steps, due.size() == most);
          }
        },
        _ -> again());
  }

  private void again() {
    server.later(Scenario.SWEEP_INTERVAL, this::run);
  }

  /**
   * Executes the steps in parallel.
   *
   * @param more whether there may be more, for which the next sweep does not wait
   */
  private void execute(List<ExpiryStep> steps, boolean more) {
    int[] ended = {0};
    workers.run(
        steps,
        step -> step.entry().provider(),
        (step, done) ->
            execute(
                step,
                success -> {
                  ended[0] += success ? 1 : 0;
                  done.run();
                }),
        Scenario.SWEEP_LIMIT,
        _ -> {
          if (more && ended[0] > 0 && server.isCurrent()) {
            find();
          } else {
            again();
          }
        });
  }

  private void execute(ExpiryStep step, Consumer<Boolean> done) {
    boolean skipped =
        world.scenario.planted() == PlantedFault.SKIPPING_SWEEPER && step.id().hashCode() % 20 == 0;
    if (skipped) {
      server.later(0, () -> done.accept(false));
      return;
    }
    switch (step) {
      case ExpiryStep.Touch touch -> {
        server.touched.put(touch.id(), server.clock());
        server.later(0, () -> done.accept(false));
      }
      case ExpiryStep.Destroy destroy -> {
        world.roundTrips.begin(Operation.EXPIRY);
        new Destruction(server, Operation.EXPIRY)
            .begin(destroy.entry(), destroy.cause(), () -> done.accept(true));
      }
      case ExpiryStep.Suspend _, ExpiryStep.MarkSuspended _ ->
          throw new IllegalStateException("no sandbox of the simulation is suspended");
    }
  }
}
