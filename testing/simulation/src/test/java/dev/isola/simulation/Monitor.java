package dev.isola.simulation;

import dev.isola.simulation.Violation.Kind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Knows what clients asked for and which failures were injected, and checks with every change that
 * the invariants hold.
 */
final class Monitor {
  private static final int MAX_VIOLATIONS = 5;

  /** What is true about a sandbox, whatever servers believe. */
  private static final class Truth {
    /** The latest expiry that the record may have. */
    private long expiresAt;

    /** The expiry that the client knows; 0 until the create is acknowledged. */
    private long acknowledgedExpiry;

    private boolean destroyRequested;
    private boolean lostByFault;
    private long fence;
    private int owner;
    private long actedFence;
    private long unknownSince = -1;
  }

  private final World world;
  private final Map<SandboxId, Truth> sandboxes = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  long acknowledged;
  long rejected;
  long unavailable;
  long markedLost;
  long staleActions;
  long takeOvers;
  long peak;
  private long existing;

  Monitor(World world) {
    this.world = world;
  }

  List<Violation> violations() {
    return violations;
  }

  Map<Kind, Integer> counts() {
    return counts;
  }

  private void report(Kind kind, String detail) {
    counts.merge(kind, 1, Integer::sum);
    if (counts.getOrDefault(kind, 0) <= MAX_VIOLATIONS) {
      violations.add(new Violation(kind, world.timeline.now(), detail));
    }
  }

  private @Nullable Truth truth(SandboxId id) {
    return sandboxes.get(id);
  }

  /** A client asks for a sandbox. */
  void requested(SandboxId id, SimulatedServer server, long expiresAt) {
    Truth truth = new Truth();
    truth.expiresAt = expiresAt;
    truth.owner = server.number;
    sandboxes.put(id, truth);
    checkEndLater(id, truth);
  }

  private void checkEndLater(SandboxId id, Truth truth) {
    world.timeline.at(truth.expiresAt + Scenario.EXPIRY_BOUND, () -> checkEnd(id, truth));
  }

  private void checkEnd(SandboxId id, Truth truth) {
    if (world.timeline.now() < truth.expiresAt + Scenario.EXPIRY_BOUND) {
      checkEndLater(id, truth);
      return;
    }
    Optional<SandboxEntry> stored = world.ledger.sandboxes().find(id);
    if (stored.filter(one -> one.state() != SandboxState.DESTROYED).isPresent()) {
      report(
          Kind.IMMORTAL,
          "sandbox " + id + " of " + stored.get().owner() + " is " + stored.get().state());
    } else if (stored.isPresent() && world.backend(stored.get()).has(id)) {
      report(Kind.IMMORTAL, "sandbox " + id + " is destroyed, but its backend has it");
    }
    if (stored.isPresent()) {
      sandboxes.remove(id);
    }
  }

  /** The client learns that its sandbox runs. */
  void acknowledged(SandboxId id, long expiresAt) {
    Truth truth = truth(id);
    if (truth != null) {
      truth.acknowledgedExpiry = expiresAt;
      acknowledged++;
    }
    if (world.ledger.sandboxes().find(id).isEmpty()) {
      report(Kind.UNRECORDED, "sandbox " + id + " was acknowledged but is not recorded");
    }
  }

  /** A client asks for a later expiry. Until it has the answer, both times are possible. */
  void renewalRequested(SandboxId id, long expiresAt) {
    Truth truth = truth(id);
    if (truth != null) {
      truth.expiresAt = Math.max(truth.expiresAt, expiresAt);
    }
  }

  void renewed(SandboxId id, long expiresAt) {
    Truth truth = truth(id);
    if (truth != null) {
      truth.acknowledgedExpiry = Math.max(truth.acknowledgedExpiry, expiresAt);
    }
  }

  /** Returns the latest expiry that the record of a sandbox may have. */
  long expiry(SandboxId id) {
    Truth truth = truth(id);
    return truth == null ? 0 : truth.expiresAt;
  }

  void destroyRequested(SandboxId id) {
    Truth truth = truth(id);
    if (truth != null) {
      truth.destroyRequested = true;
    }
  }

  void lostByFault(SandboxId id) {
    Truth truth = truth(id);
    if (truth != null) {
      truth.lostByFault = true;
    }
  }

  /** The owner of a sandbox changes. */
  void takenOver(SandboxEntry before, SandboxEntry after) {
    takeOvers++;
    SimulatedServer from = world.server(before.owner());
    if (world.ledger.servers().isValid(from.name)) {
      report(
          Kind.LIVE_SERVER_ROBBED,
          after.owner() + " took " + after.id() + " of " + from.name + ", whose lease is valid");
    }
    if (!from.isUp() && world.isShared(after)) {
      world.recoveryTimes.add(world.timeline.now() - from.crashedAt());
    }
    checkFence(after.id(), after.fence(), world.server(after.owner()));
  }

  private void checkFence(SandboxId id, long fence, SimulatedServer server) {
    Truth truth = truth(id);
    if (truth == null) {
      return;
    }
    if (fence == truth.fence && server.number != truth.owner) {
      report(
          Kind.DOUBLE_OWNER,
          "sandbox "
              + id
              + " belongs to "
              + server.name
              + " and to server "
              + truth.owner
              + ", both with fence "
              + fence);
    }
    if (fence > truth.fence) {
      truth.fence = fence;
      truth.owner = server.number;
    }
  }

  /**
   * A server uses the connection to an agent. The agent serves the connection of the newest fence
   * and has closed the others.
   */
  void acted(SandboxId id, long fence, SimulatedServer server) {
    Truth truth = truth(id);
    if (truth == null) {
      return;
    }
    if (fence < truth.actedFence) {
      staleActions++;
      return;
    }
    truth.actedFence = fence;
    if (fence == truth.fence) {
      checkFence(id, fence, server);
    }
  }

  /** A server has changed a record. */
  void wrote(SimulatedServer server, SandboxEntry before, SandboxEntry after) {
    SandboxId id = after.id();
    if (!before.owner().equals(server.name)) {
      report(
          Kind.STALE_OWNER_WRITE,
          server.name + " changed sandbox " + id + ", which belongs to " + before.owner());
    }
    if (after.state() == SandboxState.ERROR && before.state() != SandboxState.ERROR) {
      markedLost++;
      if (after.cause().isEmpty()) {
        report(Kind.NO_CAUSE, "sandbox " + id + " failed without a cause");
      }
    }
    boolean ends = after.state() == SandboxState.TERMINATING || after.state() == SandboxState.ERROR;
    if (ends && before.state() == SandboxState.RUNNING) {
      checkReason(id, after);
    }
  }

  private void checkReason(SandboxId id, SandboxEntry after) {
    Truth truth = truth(id);
    long skew = (world.scenario.faults().skewSeconds() + 1) * Timeline.SECOND;
    if (truth != null
        && !truth.destroyRequested
        && !truth.lostByFault
        && world.timeline.now() + skew < truth.acknowledgedExpiry) {
      report(Kind.LOST, "sandbox " + id + " ended: " + after.cause().orElse("no cause"));
    }
  }

  /** A backend has a sandbox now. */
  void exists(FakeBackend backend, SandboxId id) {
    existing++;
    peak = Math.max(peak, existing);
    if (!backend.has(id)) {
      throw new IllegalStateException(id + " does not exist");
    }
  }

  /** A backend removes a sandbox because a server asked for it. */
  void removed(FakeBackend backend, SandboxId id) {
    existing--;
    Optional<SandboxEntry> stored = world.ledger.sandboxes().find(id);
    if (stored.isPresent()
        && stored.get().provider().equals(backend.name)
        && (stored.get().state() == SandboxState.RUNNING
            || stored.get().state() == SandboxState.CREATING)) {
      report(
          Kind.LOST,
          "sandbox " + id + " was removed from " + backend.name + " while " + stored.get().state());
    }
  }

  void disappeared() {
    existing--;
  }

  /** Looks for sandboxes of backends that the ledger does not know. */
  void checkLeaks() {
    long now = world.timeline.now();
    for (FakeBackend backend : world.allBackends()) {
      for (SandboxId id : backend.ids()) {
        if (isRecorded(backend, id)) {
          continue;
        }
        Truth truth = sandboxes.computeIfAbsent(id, _ -> new Truth());
        if (truth.unknownSince < 0) {
          truth.unknownSince = now;
        } else if (now - truth.unknownSince > Scenario.LEAK_BOUND
            && !world.isMachineDown(backend)) {
          report(Kind.LEAK, backend.name + " has " + id + ", which is not recorded");
        }
      }
    }
  }

  private boolean isRecorded(FakeBackend backend, SandboxId id) {
    return world
        .ledger
        .sandboxes()
        .find(id)
        .filter(entry -> entry.state() != SandboxState.DESTROYED)
        .filter(entry -> entry.provider().equals(backend.name))
        .isPresent();
  }

  /** Checks that nothing is left at the end. */
  void checkEmpty() {
    world
        .ledger
        .sandboxes()
        .open()
        .forEach(entry -> report(Kind.IMMORTAL, entry.id() + " is " + entry.state()));
    for (FakeBackend backend : world.allBackends()) {
      if (!world.isMachineDown(backend)) {
        backend.ids().forEach(id -> report(Kind.LEAK, backend.name + " has " + id));
      }
    }
    for (SimulatedServer server : world.servers) {
      if (server.isUp() && server.reservedMb() != 0) {
        report(
            Kind.RESERVATION_LEAK, server.name + " still reserves " + server.reservedMb() + " MB");
      }
    }
  }
}
