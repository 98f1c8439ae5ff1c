package dev.isola.simulation;

import dev.isola.spi.SandboxId;
import dev.isola.store.OwnedEntry;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Keeps the lease of a server, and takes the sandboxes of servers whose leases have lapsed. */
final class Membership {
  private final SimulatedServer server;
  private final World world;
  private boolean started;

  Membership(SimulatedServer server) {
    this.server = server;
    this.world = server.world;
  }

  void start() {
    long sent = world.timeline.now();
    server.database.call(
        Operation.HEARTBEAT,
        () -> world.leases.register(server.name, server.incarnation()),
        _ -> {
          server.renewedLease(sent);
          begin();
        },
        _ -> server.later(Scenario.HEARTBEAT, this::start));
  }

  private void begin() {
    if (!started) {
      started = true;
      server.startTasks();
      server.later(Scenario.HEARTBEAT, this::heartbeat);
    }
  }

  private void heartbeat() {
    long sent = world.timeline.now();
    world.roundTrips.begin(Operation.HEARTBEAT);
    server.database.call(
        Operation.HEARTBEAT,
        () -> world.leases.renew(server.name, server.incarnation()),
        valid -> {
          server.renewedLease(sent);
          findLapsed();
        },
        _ -> {});
    server.later(Scenario.HEARTBEAT, this::heartbeat);
  }

  /** Reads the servers that have lost their leases, and which of them have sandboxes to take. */
  private void findLapsed() {
    server.database.call(
        Operation.HEARTBEAT,
        () -> {
          List<String> lapsed = new ArrayList<>(world.leases.lapsed());
          if (world.scenario.planted() == PlantedFault.TAKEOVER_OF_LIVE_SERVERS) {
            lapsed = new ArrayList<>(world.leases.all());
          }
          lapsed.remove(server.name);
          return lapsed;
        },
        lapsed -> {
          server.lapsedServers.clear();
          server.lapsedServers.addAll(lapsed);
          lapsed.stream().filter(this::hasSandboxes).forEach(this::takeBatch);
        },
        _ -> {});
  }

  private boolean hasSandboxes(String other) {
    return server.sandboxes().hasOpen(other, this::mayTake);
  }

  /** A sandbox on the machine of a dead server cannot be reached; its record ends after a while. */
  private boolean mayTake(SandboxEntry entry) {
    return world.isShared(entry)
        || entry
            .expiresAt()
            .filter(end -> Timeline.time(end) + Scenario.BOUND_GRACE < world.timeline.now())
            .isPresent();
  }

  private boolean fenced() {
    return world.scenario.planted() != PlantedFault.TAKEOVER_WITHOUT_FENCE;
  }

  private void takeBatch(String from) {
    server.database.call(
        Operation.TAKEOVER,
        () -> {
          boolean planted = world.scenario.planted() == PlantedFault.TAKEOVER_OF_LIVE_SERVERS;
          if (world.leases.isValid(from) && !planted) {
            return List.<OwnedEntry>of();
          }
          List<OwnedEntry> batch =
              server
                  .sandboxes()
                  .takeOver(from, server.name, Scenario.TAKEOVER_BATCH, this::mayTake, fenced());
          batch.forEach(one -> record(one, from));
          return batch;
        },
        batch -> {
          batch.forEach(this::attach);
          if (batch.size() == Scenario.TAKEOVER_BATCH) {
            takeBatch(from);
          }
        },
        _ -> {});
  }

  /** Takes one sandbox that a client asks for. */
  void take(OwnedEntry known, Consumer<OwnedEntry> then, Runnable otherwise) {
    server.database.call(
        Operation.TAKEOVER,
        () -> {
          List<OwnedEntry> one = new ArrayList<>();
          if (!world.leases.isValid(known.owner())) {
            server.sandboxes().takeOver(known, server.name, fenced()).ifPresent(one::add);
            one.forEach(entry -> record(entry, known.owner()));
          }
          return one;
        },
        result -> {
          result.forEach(this::attach);
          if (result.isEmpty()) {
            otherwise.run();
          } else {
            then.accept(result.getFirst());
          }
        },
        _ -> otherwise.run());
  }

  private void record(OwnedEntry now, String from) {
    world.roundTrips.begin(Operation.TAKEOVER);
    world.monitor.acquired(now, server, from);
    if (!world.server(from).isUp()) {
      world.recoveryTimes.add(world.timeline.now() - world.server(from).crashedAt());
    }
  }

  private void attach(OwnedEntry owned) {
    SandboxId id = owned.entry().id();
    server.adopt(owned.entry());
    world.monitor.acted(id, owned.fence(), server);
  }
}
