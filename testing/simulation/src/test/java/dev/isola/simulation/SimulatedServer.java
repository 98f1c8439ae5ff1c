package dev.isola.simulation;

import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.engine.admission.AdmissionQueue;
import dev.isola.engine.admission.Capacity;
import dev.isola.engine.admission.Headroom;
import dev.isola.engine.api.Resources;
import dev.isola.engine.peer.Ownership;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A server: its process, which crashes, stops and restarts, and its memory. A paused server
 * continues where it was, with everything that it believed.
 */
final class SimulatedServer {
  static final Resources SANDBOX = new Resources(World.SANDBOX_MB, 250);

  final int number;
  final String name;
  final World world;
  final DatabaseLink database;

  /** The backend of this machine, which survives the server. */
  final FakeBackend machine;

  final Set<SandboxId> inTransition = new HashSet<>();
  final Map<SandboxId, Instant> touched = new HashMap<>();

  /** The fence of each sandbox whose agent this server is connected to. */
  private final Map<SandboxId, Long> attached = new HashMap<>();

  private final Map<SandboxId, AdmissionQueue.Ticket> reservations = new HashMap<>();
  private final Map<AdmissionQueue.Ticket, Runnable> waiting = new HashMap<>();
  private final LedgerView ledger;
  private final long skew;
  private AdmissionQueue admission;
  private @Nullable Membership membership;
  private @Nullable Reconciliation reconciliation;
  private int incarnation;
  private boolean up;
  private long pausedUntil;
  private long crashedAt;
  private long sentAt = -1;

  SimulatedServer(World world, int number) {
    this.world = world;
    this.number = number;
    name = "server-" + number;
    ledger = new LedgerView(world, this);
    database = new DatabaseLink(world, this);
    machine = new FakeBackend(world, World.LOCAL, 16_384);
    int most = world.scenario.faults().skewSeconds();
    skew = most == 0 ? 0 : world.random.nextLong(-most * SECOND, most * SECOND);
    admission = admission();
  }

  private AdmissionQueue admission() {
    long sandboxes = world.scenario.sandboxes() / world.scenario.servers();
    return new AdmissionQueue(
        Capacity.ofInstallation(
            new Resources(Math.max(64, sandboxes * 2) * World.SANDBOX_MB, Resources.UNLIMITED)),
        Headroom.UNCHECKED,
        () -> Resources.NONE);
  }

  LedgerView ledger() {
    return ledger;
  }

  Membership membership() {
    return Objects.requireNonNull(membership);
  }

  Reconciliation reconciliation() {
    return Objects.requireNonNull(reconciliation);
  }

  boolean isUp() {
    return up;
  }

  long crashedAt() {
    return crashedAt;
  }

  long reservedMb() {
    return admission.reserved().memoryMb();
  }

  Resources promised(String provider) {
    return admission.reserved(provider);
  }

  /** Returns the time by the clock of this server. */
  Instant clock() {
    return Timeline.instant(world.timeline.now() + skew);
  }

  /** Returns the time by a clock that is never set back. */
  long monotonicTime() {
    return sentAt < 0 ? world.timeline.now() : sentAt;
  }

  /** Runs the code of a call, for which the time is that at which the call was sent. */
  void during(long start, Runnable call) {
    sentAt = start;
    try {
      call.run();
    } finally {
      sentAt = -1;
    }
  }

  void start() {
    incarnation++;
    up = true;
    pausedUntil = 0;
    inTransition.clear();
    touched.clear();
    attached.clear();
    reservations.clear();
    waiting.clear();
    admission = admission();
    Membership next = new Membership(this, ledger, incarnation);
    membership = next;
    next.start();
  }

  void crash() {
    up = false;
    crashedAt = world.timeline.now();
  }

  void pause(long time) {
    pausedUntil = world.timeline.now() + time;
  }

  /** Starts the periodic tasks of the engine, after the server is registered. */
  void startTasks() {
    later(world.random.nextLong(Scenario.SWEEP_INTERVAL), new Sweep(this)::run);
    Reconciliation own = new Reconciliation(this);
    reconciliation = own;
    own.run();
    new Comparison(this, own).run();
  }

  /** Returns whether this server may act as the owner of its sandboxes. */
  boolean isCurrent() {
    return membership().lease.isCurrent() || world.scenario.planted() == PlantedFault.IGNORES_LEASE;
  }

  /** Returns whether this server may change a record that it has read. */
  boolean owns(SandboxEntry entry) {
    return membership().lease.owns(entry) || world.scenario.planted() == PlantedFault.IGNORES_LEASE;
  }

  boolean isAttached(SandboxId id) {
    return attached.containsKey(id);
  }

  /** Connects to the agent of a sandbox that this server owns. */
  void attach(SandboxEntry entry) {
    attached.put(entry.id(), entry.fence());
    adopt(entry);
    world.monitor.acted(entry.id(), entry.fence(), this);
  }

  /** Uses the connection to an agent. */
  void execute(SandboxId id) {
    Long fence = attached.get(id);
    if (fence != null) {
      world.monitor.acted(id, fence, this);
      touched.put(id, clock());
    }
  }

  /** Lets this server do something after a while, if it has not crashed by then. */
  void later(long delay, Runnable action) {
    int life = incarnation;
    world.timeline.after(delay, () -> deliver(life, action));
  }

  /**
   * Lets something happen elsewhere that this server has asked for, and tells this server.
   *
   * @param effect happens even if this server has crashed
   */
  void deliverAfter(long delay, Runnable effect, Runnable answer) {
    int life = incarnation;
    world.timeline.after(
        delay,
        () -> {
          effect.run();
          deliver(life, answer);
        });
  }

  private void deliver(int life, Runnable action) {
    if (!up || life != incarnation) {
      return;
    }
    if (world.timeline.now() < pausedUntil) {
      world.timeline.at(pausedUntil, () -> deliver(life, action));
    } else {
      action.run();
    }
  }

  /** Changes the record of a sandbox by compare-and-set, if this server owns it. */
  void write(
      Operation operation,
      SandboxEntry changed,
      Consumer<UpdateResult> then,
      Consumer<SandboxException> failed) {
    if (!owns(changed)) {
      later(0, () -> failed.accept(Ownership.notOwner(changed)));
      return;
    }
    database.call(operation, view -> view.sandboxes().update(changed), then, failed);
  }

  /**
   * Reserves memory for a new sandbox.
   *
   * @param admitted called when there is capacity, at once or later
   */
  AdmissionQueue.Ticket reserve(
      String provider, long timeout, Runnable admitted, Runnable rejected) {
    AdmissionQueue.Ticket ticket =
        admission.enqueue(provider, SANDBOX, Timeline.instant(world.timeline.now() + timeout));
    if (ticket.state() == AdmissionQueue.State.ADMITTED) {
      later(0, admitted);
    } else {
      waiting.put(ticket, admitted);
      later(
          timeout,
          () -> {
            if (waiting.remove(ticket) != null) {
              admit(admission.release(ticket));
              rejected.run();
            }
          });
    }
    return ticket;
  }

  private void admit(List<AdmissionQueue.Ticket> admitted) {
    for (AdmissionQueue.Ticket ticket : admitted) {
      Runnable action = waiting.remove(ticket);
      if (action != null) {
        later(0, action);
      }
    }
  }

  void move(AdmissionQueue.Ticket ticket, String provider) {
    admission.move(ticket, provider);
  }

  void started(SandboxEntry entry, AdmissionQueue.Ticket ticket) {
    SandboxId id = entry.id();
    attached.put(id, entry.fence());
    world.monitor.acted(id, entry.fence(), this);
    admission.markStarted(ticket);
    AdmissionQueue.Ticket earlier = reservations.put(id, ticket);
    if (earlier != null && !earlier.equals(ticket)) {
      release(earlier);
    }
  }

  void release(AdmissionQueue.Ticket ticket) {
    admit(admission.release(ticket));
  }

  /** Reserves memory for a sandbox that this server has got from another one. */
  void adopt(SandboxEntry entry) {
    if (!reservations.containsKey(entry.id())) {
      reservations.put(entry.id(), admission.adopt(entry.provider(), SANDBOX));
    }
  }

  /** Forgets a sandbox that has ended or belongs to another server. */
  void drop(SandboxId id) {
    AdmissionQueue.Ticket ticket = reservations.remove(id);
    if (ticket != null) {
      release(ticket);
    }
    touched.remove(id);
    attached.remove(id);
  }

  /** Forgets the sandboxes that are not in the list. */
  void retain(Set<SandboxId> owned) {
    List<SandboxId> others =
        reservations.keySet().stream()
            .filter(id -> !owned.contains(id) && !inTransition.contains(id))
            .toList();
    others.forEach(this::drop);
  }
}
