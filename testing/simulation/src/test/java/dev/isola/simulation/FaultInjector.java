package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MINUTE;
import static dev.isola.simulation.Timeline.SECOND;

/** Crashes and pauses servers at random times. One server is never crashed for good. */
final class FaultInjector {
  private final World world;

  FaultInjector(World world) {
    this.world = world;
  }

  void schedule() {
    Faults faults = world.scenario.faults();
    for (SimulatedServer server : world.servers) {
      next(faults.crashes(), () -> crash(server));
      next(faults.pauses(), () -> pause(server));
    }
  }

  /** Repeats an event with a rate per minute, until all sandboxes have expired. */
  private void next(double rate, Runnable event) {
    if (rate <= 0) {
      return;
    }
    long delay = (long) (-Math.log(1 - world.random.nextDouble()) / rate * MINUTE);
    if (world.timeline.now() + delay > lastFault()) {
      return;
    }
    world.timeline.after(
        delay,
        () -> {
          event.run();
          next(rate, event);
        });
  }

  /** Afterwards nothing fails any more, so that what is left at the end is left for good. */
  private long lastFault() {
    return world.scenario.ramp() + world.scenario.longestTtl();
  }

  private void crash(SimulatedServer server) {
    if (!server.isUp()) {
      return;
    }
    server.crash();
    boolean forGood =
        server.number > 0 && world.random.nextDouble() < world.scenario.faults().neverReturns();
    if (!forGood) {
      world.timeline.after(world.random.nextLong(2 * SECOND, 2 * MINUTE), server::start);
    }
  }

  private void pause(SimulatedServer server) {
    server.pause(world.random.nextLong(SECOND, MINUTE));
  }
}
