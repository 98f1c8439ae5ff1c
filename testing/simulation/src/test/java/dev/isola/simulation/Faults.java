package dev.isola.simulation;

/**
 * How often failures are injected. Rates of servers are per server and minute, probabilities per
 * call.
 *
 * @param pauses a server stops for up to a minute and continues where it was
 * @param neverReturns the probability that a crashed server stays down
 * @param skewSeconds the largest difference of a server's clock from the time of the database
 * @param lostAnswers of calls of the database: half of them have taken effect
 * @param outages intervals in which the database answers no call
 * @param failedCreates of the provider, which has created nothing
 * @param unknownCreates of the provider, which may have created the sandbox
 * @param lostSandboxes the probability that a sandbox disappears from its provider
 */
record Faults(
    double crashes,
    double pauses,
    double neverReturns,
    int skewSeconds,
    double slowCalls,
    double lostAnswers,
    int outages,
    double failedCreates,
    double unknownCreates,
    double failedDestroys,
    double lostSandboxes) {
  static final Faults NONE = new Faults(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Many failures of every kind. */
  static final Faults MANY =
      new Faults(0.02, 0.02, 0.02, 5, 0.01, 0.001, 2, 0.01, 0.002, 0.01, 0.005);
}
