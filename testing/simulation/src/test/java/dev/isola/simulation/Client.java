package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;
import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.engine.api.SandboxHome;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The clients: they create sandboxes, run commands in them, renew and destroy some. Every request
 * goes to any server, which passes it on to the owner of the sandbox.
 */
final class Client {
  private static final int ATTEMPTS = 60;
  private static final int EXECUTIONS = 2;
  private static final int FORWARDS = 2;
  private static final double RENEWED = 0.3;
  private static final double DESTROYED = 0.1;
  private static final double LOCAL = 0.02;

  private final World world;
  private final Placement placement;
  private int sent;

  Client(World world) {
    this.world = world;
    placement = new Placement(world);
  }

  void start() {
    send();
  }

  private void send() {
    if (sent++ >= world.scenario.sandboxes()) {
      return;
    }
    world.timeline.after(world.scenario.ramp() / world.scenario.sandboxes(), this::send);
    Optional<SimulatedServer> server = anyServer();
    if (server.isEmpty()) {
      world.monitor.rejected++;
      return;
    }
    SandboxId id = SandboxId.random(world.random);
    long ttl = world.random.nextLong(world.scenario.shortestTtl(), world.scenario.longestTtl());
    boolean local = world.random.nextDouble() < LOCAL;
    String name = server.get().name;
    Creation creation =
        new Creation(server.get(), id, local, ttl, entry -> acknowledged(entry, name));
    server.get().later(MILLISECOND, () -> creation.start(placement));
  }

  private Optional<SimulatedServer> anyServer() {
    List<SimulatedServer> all = world.servers;
    int first = world.random.nextInt(all.size());
    for (int i = 0; i < all.size(); i++) {
      SimulatedServer one = all.get((first + i) % all.size());
      if (one.isUp()) {
        return Optional.of(one);
      }
    }
    return Optional.empty();
  }

  /** Plans what happens to a new sandbox. */
  private void acknowledged(SandboxEntry entry, String server) {
    SandboxId id = entry.id();
    long now = world.timeline.now();
    long expiry = Timeline.time(entry.expiresAt().orElseThrow());
    world.monitor.acknowledged(id, expiry);
    if (world.isShared(entry)) {
      loseMaybe(entry, expiry);
    } else {
      endWithAgent(server, entry, expiry);
    }
    for (int i = 0; i < EXECUTIONS; i++) {
      world.timeline.at(
          world.random.nextLong(now, expiry),
          () -> {
            world.roundTrips.begin(Operation.EXEC);
            route(Operation.EXEC, id, 0, (owner, _) -> owner.execute(id));
          });
    }
    if (world.random.nextDouble() < RENEWED) {
      world.timeline.at(world.random.nextLong(now, expiry), () -> renew(id, expiry));
    } else if (world.random.nextDouble() < DESTROYED) {
      world.timeline.at(world.random.nextLong(now, expiry), () -> destroy(id));
    }
  }

  private void loseMaybe(SandboxEntry entry, long expiry) {
    if (world.random.nextDouble() < world.scenario.faults().lostSandboxes()) {
      world.timeline.at(
          world.random.nextLong(world.timeline.now(), expiry),
          () -> {
            FakeBackend backend = world.backend(entry);
            if (backend.has(entry.id())) {
              world.monitor.lostByFault(entry.id());
              world.monitor.disappeared();
              backend.lose(entry.id());
            }
          });
    }
  }

  /** The agent of a sandbox on the machine of a server ends it, if no server does. */
  private void endWithAgent(String machine, SandboxEntry entry, long expiry) {
    world.timeline.at(
        expiry + 10 * SECOND,
        () -> {
          long current = world.monitor.expiry(entry.id());
          if (current > expiry) {
            endWithAgent(machine, entry, current);
          } else {
            end(machine, entry);
          }
        });
  }

  private void end(String machine, SandboxEntry entry) {
    FakeBackend backend = world.server(machine).machine;
    if (backend.has(entry.id())) {
      world.monitor.lostByFault(entry.id());
      world.monitor.disappeared();
      backend.lose(entry.id());
    }
  }

  /**
   * Sends a request to any server, which passes it on to the owner. While neither answers, the
   * client tries again.
   */
  private void route(
      Operation operation,
      SandboxId id,
      int attempt,
      BiConsumer<SimulatedServer, Runnable> action) {
    if (attempt == ATTEMPTS) {
      world.monitor.unavailable++;
      return;
    }
    Runnable again =
        () -> world.timeline.after(SECOND, () -> route(operation, id, attempt + 1, action));
    Optional<SimulatedServer> any = anyServer();
    if (any.isEmpty()) {
      again.run();
      return;
    }
    SimulatedServer server = any.get();
    server.later(MILLISECOND, () -> find(operation, server, id, action, again, FORWARDS));
  }

  /** A server looks for the owner of a sandbox, and acts if it is the owner. */
  private void find(
      Operation operation,
      SimulatedServer server,
      SandboxId id,
      BiConsumer<SimulatedServer, Runnable> action,
      Runnable again,
      int forwards) {
    if (server.isAttached(id) && server.isCurrent()) {
      action.accept(server, again); // without asking the ledger
      return;
    }
    server.database.call(
        operation,
        _ -> server.membership().peers.homeOf(id),
        home -> {
          switch (home) {
            case SandboxHome.Here _ -> attach(operation, server, id, action, again);
            case SandboxHome.At(String owner, URI _) -> {
              SimulatedServer other = world.server(owner);
              if (forwards == 0 || !other.isUp()) {
                again.run();
              } else {
                other.later(
                    MILLISECOND, () -> find(operation, other, id, action, again, forwards - 1));
              }
            }
          }
        },
        _ -> again.run());
  }

  private void attach(
      Operation operation,
      SimulatedServer server,
      SandboxId id,
      BiConsumer<SimulatedServer, Runnable> action,
      Runnable again) {
    server.database.call(
        operation,
        ledger -> ledger.sandboxes().find(id),
        found -> {
          if (found.filter(entry -> entry.state() == SandboxState.RUNNING).isEmpty()) {
            return; // it has ended
          }
          if (!world.backend(found.get()).has(id)) {
            return; // the request fails; reconciliation or expiry ends the record
          }
          if (server.owns(found.get())) {
            server.attach(found.get());
            action.accept(server, again);
          } else {
            again.run();
          }
        },
        _ -> again.run());
  }

  private void renew(SandboxId id, long expiry) {
    world.roundTrips.begin(Operation.RENEW);
    long later = expiry + world.scenario.renewal();
    world.monitor.renewalRequested(id, later);
    route(Operation.RENEW, id, 0, (owner, again) -> renew(owner, id, later, again));
  }

  private void renew(SimulatedServer owner, SandboxId id, long later, Runnable again) {
    change(
        Operation.RENEW,
        owner,
        id,
        again,
        entry ->
            owner.write(
                Operation.RENEW,
                entry.toBuilder().expiresAt(Timeline.instant(later)).build(),
                result -> {
                  if (result instanceof UpdateResult.Written) {
                    world.monitor.renewed(id, later);
                  } else {
                    again.run();
                  }
                },
                _ -> again.run()));
  }

  /** Reads the record of a running sandbox before it changes. */
  private void change(
      Operation operation,
      SimulatedServer owner,
      SandboxId id,
      Runnable again,
      Consumer<SandboxEntry> change) {
    owner.database.call(
        operation,
        ledger -> ledger.sandboxes().find(id),
        found -> found.filter(entry -> entry.state() == SandboxState.RUNNING).ifPresent(change),
        _ -> again.run());
  }

  private void destroy(SandboxId id) {
    world.roundTrips.begin(Operation.DESTROY);
    world.monitor.destroyRequested(id);
    route(
        Operation.DESTROY,
        id,
        0,
        (owner, again) ->
            change(
                Operation.DESTROY,
                owner,
                id,
                again,
                entry ->
                    new Destruction(owner, Operation.DESTROY)
                        .begin(entry, "a client destroyed it", () -> {})));
  }
}
