package dev.isola.simulation;

import dev.isola.engine.lifecycle.ExpiryPlanner;
import dev.isola.engine.lifecycle.ExpiryStep;
import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Ends the due sandboxes of a server, some at a time, as {@link ExpiryPlanner} decides. */
final class Sweep {
  private final SimulatedServer server;
  private final World world;

  Sweep(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
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
    server.database.call(
        Operation.SWEEP,
        ledger ->
            ledger.sandboxes().findExpired(Optional.of(server.name), now, Scenario.SWEEP_BATCH),
        due -> {
          List<ExpiryStep> steps = ExpiryPlanner.plan(due, now, Set.of());
          if (steps.isEmpty()) {
            again();
          } else {
            execute(steps);
          }
        },
        _ -> again());
  }

  private void again() {
    server.later(Scenario.SWEEP_INTERVAL, this::run);
  }

  /** Executes the steps in parallel lanes; the next sweep starts after the last of them. */
  private void execute(List<ExpiryStep> steps) {
    Iterator<ExpiryStep> rest = steps.iterator();
    int[] left = {steps.size()};
    for (int lane = 0; lane < Math.min(Scenario.SWEEP_PARALLELISM, steps.size()); lane++) {
      next(rest, left);
    }
  }

  private void next(Iterator<ExpiryStep> rest, int[] left) {
    if (rest.hasNext()) {
      execute(
          rest.next(),
          () -> {
            if (--left[0] == 0) {
              again();
            } else {
              next(rest, left);
            }
          });
    }
  }

  private void execute(ExpiryStep step, Runnable done) {
    boolean skipped =
        world.scenario.planted() == PlantedFault.SKIPPING_SWEEPER && step.id().hashCode() % 20 == 0;
    if (skipped) {
      server.later(0, done);
      return;
    }
    switch (step) {
      case ExpiryStep.Touch touch -> {
        server.touched.put(touch.id(), server.clock());
        server.later(0, done);
      }
      case ExpiryStep.Destroy destroy -> {
        world.roundTrips.begin(Operation.EXPIRY);
        new Destruction(server, Operation.EXPIRY).begin(destroy.entry(), destroy.cause(), done);
      }
      case ExpiryStep.Suspend _, ExpiryStep.MarkSuspended _ ->
          throw new IllegalStateException("no sandbox of the simulation is suspended");
    }
  }
}
