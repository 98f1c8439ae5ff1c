package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MINUTE;
import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.store.InMemoryLedger;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Everything of one simulation. The same scenario gives the same run. */
final class World {
  static final int CLUSTERS = 4;

  /** The provider of each server's own machine. */
  static final String LOCAL = "bubblewrap";

  static final long SANDBOX_MB = 512;

  final Scenario scenario;
  final RandomGenerator random;
  final Timeline timeline = new Timeline();
  final InMemoryLedger ledger =
      new InMemoryLedger(Duration.ofHours(24), false, () -> Timeline.instant(timeline.now()));
  final RoundTrips roundTrips = new RoundTrips();
  final Monitor monitor = new Monitor(this);
  final RecoveryTimes recoveryTimes = new RecoveryTimes();
  final List<FakeBackend> clusters = new ArrayList<>();
  final List<SimulatedServer> servers = new ArrayList<>();
  private final Map<String, SimulatedServer> byName = new HashMap<>();
  private final List<Long> outages = new ArrayList<>();

  World(Scenario scenario) {
    this.scenario = scenario;
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(scenario.seed());
    for (int i = 1; i <= CLUSTERS; i++) {
      clusters.add(
          new FakeBackend(this, "cluster-" + i, scenario.sandboxes() * SANDBOX_MB * 2 / CLUSTERS));
    }
    ledger.sandboxes().onTakeOver(monitor::takenOver);
    if (scenario.planted() == PlantedFault.TAKEOVER_WITHOUT_FENCE) {
      ledger.sandboxes().plantTakeOverWithoutFence();
    }
    if (scenario.planted() == PlantedFault.TAKEOVER_OF_LIVE_SERVERS) {
      ledger.servers().plantTakeOverOfLiveServers();
    }
    for (int i = 0; i < scenario.servers(); i++) {
      SimulatedServer server = new SimulatedServer(this, i);
      servers.add(server);
      byName.put(server.name, server);
    }
  }

  /** Runs until everything must be gone. */
  void run() {
    runUntil(() -> false);
    monitor.checkEmpty();
  }

  /** Runs until an invariant is violated, or until everything must be gone. */
  void runUntilViolated(Violation.Kind invariant) {
    runUntil(() -> monitor.counts().containsKey(invariant));
  }

  private void runUntil(BooleanSupplier condition) {
    for (SimulatedServer server : servers) {
      timeline.at(random.nextLong(SECOND), server::start);
    }
    new FaultInjector(this).schedule();
    for (int i = 0; i < scenario.faults().outages(); i++) {
      outages.add(random.nextLong(MINUTE, scenario.ramp() + scenario.shortestTtl()));
    }
    Client client = new Client(this);
    timeline.at(10 * SECOND, client::start);
    timeline.after(MINUTE, this::checkLeaks);
    timeline.runUntil(scenario.end(), condition);
  }

  private void checkLeaks() {
    monitor.checkLeaks();
    timeline.after(MINUTE, this::checkLeaks);
  }

  boolean databaseIsDown() {
    for (long from : outages) {
      if (timeline.now() >= from && timeline.now() < from + 20 * SECOND) {
        return true;
      }
    }
    return false;
  }

  SimulatedServer server(String name) {
    return Objects.requireNonNull(byName.get(name));
  }

  boolean isShared(SandboxEntry entry) {
    return !entry.provider().equals(LOCAL);
  }

  /** Returns the backend of a sandbox: a cluster, or the machine of its server. */
  FakeBackend backend(SandboxEntry entry) {
    return backend(entry.provider(), entry.owner());
  }

  FakeBackend backend(String provider, String owner) {
    if (provider.equals(LOCAL)) {
      return server(owner).machine;
    }
    return clusters.stream().filter(one -> one.name.equals(provider)).findFirst().orElseThrow();
  }

  List<FakeBackend> allBackends() {
    List<FakeBackend> all = new ArrayList<>(clusters);
    servers.forEach(server -> all.add(server.machine));
    return all;
  }

  /** Returns whether a backend is a machine whose server is down, so that no server reaches it. */
  boolean isMachineDown(FakeBackend backend) {
    return servers.stream().anyMatch(one -> one.machine.equals(backend) && !one.isUp());
  }
}
