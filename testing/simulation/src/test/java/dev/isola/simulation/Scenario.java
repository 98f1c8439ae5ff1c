package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MINUTE;
import static dev.isola.simulation.Timeline.SECOND;

/**
 * What to simulate.
 *
 * @param sandboxes how many create requests clients send; all sandboxes are alive at the same time
 */
record Scenario(int servers, int sandboxes, long seed, Faults faults, PlantedFault planted) {
  /** The intervals of the engine, as its configuration sets them by default. */
  static final long SWEEP_INTERVAL = SECOND;

  static final long RECONCILE_INTERVAL = 30 * SECOND;
  static final long HEALTH_INTERVAL = 30 * SECOND;

  /** The limits of the expiry and the reconciliation of the engine. */
  static final int SWEEP_BATCH = 256;

  static final long SWEEP_LIMIT = 2 * SECOND;
  static final long STEPS_LIMIT = 20 * SECOND;

  /** How much a server does at a time at each provider. */
  static final int PARALLELISM = 32;

  static final long LEASE = 5 * SECOND;
  static final long HEARTBEAT = LEASE / 5;

  /** How long after its expiry a sandbox may still exist, whatever failed. */
  static final long EXPIRY_BOUND = 5 * MINUTE;

  /** How long a sandbox may exist that is not recorded, whatever failed. */
  static final long LEAK_BOUND = 5 * MINUTE;

  /** Sandboxes that one server creates in a second. */
  private static final long RATE = 17;

  Scenario(int servers, int sandboxes) {
    this(servers, sandboxes, 1, Faults.MANY, PlantedFault.NONE);
  }

  Scenario with(PlantedFault fault) {
    return new Scenario(servers, sandboxes, seed, faults, fault);
  }

  Scenario with(Faults others) {
    return new Scenario(servers, sandboxes, seed, others, planted);
  }

  Scenario withSeed(long other) {
    return new Scenario(servers, sandboxes, other, faults, planted);
  }

  /** Returns how long clients create sandboxes. */
  long ramp() {
    return Math.max(4 * MINUTE, sandboxes * SECOND / (RATE * servers));
  }

  /** Returns the shortest time to live: as long as clients create sandboxes. */
  long shortestTtl() {
    return ramp() + 2 * MINUTE;
  }

  /** Returns the longest time to live, so that a server expires a third of what it can. */
  long longestTtl() {
    return shortestTtl() + 3 * ramp();
  }

  /** Returns when everything must be gone. */
  long end() {
    return ramp() + longestTtl() + renewal() + EXPIRY_BOUND + LEAK_BOUND + 2 * MINUTE;
  }

  /** Returns by how much a client extends a sandbox. */
  long renewal() {
    return 3 * MINUTE;
  }
}
