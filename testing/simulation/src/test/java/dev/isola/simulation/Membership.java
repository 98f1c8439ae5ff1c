package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MICROSECOND_NANOS;

import dev.isola.engine.api.Log;
import dev.isola.engine.peer.LedgerPeers;
import dev.isola.engine.peer.Reservations;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.peer.ServerLease;
import dev.isola.engine.peer.TakeOverTask;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntry;
import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One life of a server among the others: the lease, the take-over task and the directory of peers
 * of the engine.
 */
final class Membership {
  private static final Log NO_LOG =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  private static final Reservations NOTHING_RESERVED = new Reservations(Map.of());

  private final SimulatedServer server;
  private final World world;
  private final TakeOverTask takeOver;
  final ServerLease lease;
  final LedgerPeers peers;

  Membership(SimulatedServer server, LedgerView ledger, int incarnation) {
    this.server = server;
    this.world = server.world;
    lease =
        new ServerLease(
            ledger,
            new ServerIdentity(
                server.name,
                server.name + "/" + incarnation,
                URI.create("http://" + server.name),
                "1",
                Duration.of(Scenario.LEASE, ChronoUnit.MICROS)),
            () -> server.monotonicTime() * MICROSECOND_NANOS,
            NO_LOG);
    Set<String> shared =
        world.clusters.stream().map(cluster -> cluster.name).collect(Collectors.toSet());
    Set<String> all = new HashSet<>(shared);
    all.add(World.LOCAL);
    takeOver = new TakeOverTask(ledger, lease, shared, all, server::clock, NO_LOG);
    peers = new LedgerPeers(ledger, lease, takeOver, server::isAttached, Secret.of("simulated"));
  }

  void start() {
    server.database.call(
        Operation.HEARTBEAT,
        _ -> {
          lease.register();
          return true;
        },
        _ -> {
          server.startTasks();
          server.later(Scenario.HEARTBEAT, this::heartbeat);
          server.later(Scenario.HEARTBEAT, this::recover);
        },
        _ -> server.later(Scenario.HEARTBEAT, this::start));
  }

  private void heartbeat() {
    world.roundTrips.begin(Operation.HEARTBEAT);
    server.later(Scenario.HEARTBEAT, this::heartbeat);
    server.database.call(
        Operation.HEARTBEAT,
        ledger -> {
          lease.renew(() -> dropLost(ledger), NOTHING_RESERVED);
          return true;
        },
        _ -> {},
        _ -> {});
  }

  /** Drops the sandboxes that other servers have taken over. */
  private void dropLost(LedgerView ledger) {
    server.retain(
        ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().owner(server.name)).stream()
            .map(SandboxEntry::id)
            .collect(Collectors.toSet()));
  }

  private void recover() {
    world.roundTrips.begin(Operation.RECOVERY);
    server.database.call(
        Operation.RECOVERY,
        _ -> {
          List<SandboxEntry> all = new ArrayList<>(takeOver.run());
          all.addAll(takeOver.runForExpired());
          return all;
        },
        this::attach,
        _ -> server.later(Scenario.HEARTBEAT, this::recover));
  }

  private void attach(List<SandboxEntry> entries) {
    for (SandboxEntry entry : entries) {
      if (entry.state() == SandboxState.RUNNING && world.isShared(entry)) {
        server.attach(entry);
      }
    }
    Runnable again = () -> server.later(Scenario.HEARTBEAT, this::recover);
    if (entries.stream().map(SandboxEntry::id).anyMatch(this::isNotAttached)) {
      server.reconciliation().runOnce(again);
    } else {
      again.run();
    }
  }

  private boolean isNotAttached(SandboxId id) {
    return !server.isAttached(id);
  }
}
