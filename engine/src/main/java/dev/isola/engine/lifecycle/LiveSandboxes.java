package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The sandboxes this process has in its hands: their channels, and what was promised to them. */
public final class LiveSandboxes {
  private final ProviderRegistry registry;
  private final AdmissionControl admission;
  private final Map<SandboxId, Sandbox> sandboxes = new ConcurrentHashMap<>();
  private final Map<SandboxId, String> providers = new ConcurrentHashMap<>();
  private final Map<SandboxId, Reservation> reservations = new ConcurrentHashMap<>();
  private final Map<SandboxId, Long> bootGenerations = new ConcurrentHashMap<>();
  private final AtomicLong nextGeneration = new AtomicLong();
  private final Set<SandboxId> inTransition = ConcurrentHashMap.newKeySet();

  public LiveSandboxes(ProviderRegistry registry, AdmissionControl admission) {
    this.registry = registry;
    this.admission = admission;
  }

  /** Says that a sandbox is being made, by us: nobody else is to clean it up. */
  void beginTransition(SandboxId id) {
    inTransition.add(id);
  }

  void endTransition(SandboxId id) {
    inTransition.remove(id);
  }

  /** Tells whether this process is making it now. */
  public boolean isInTransition(SandboxId id) {
    return inTransition.contains(id);
  }

  public void put(Sandbox sandbox) {
    sandboxes.put(sandbox.id(), sandbox);
  }

  public void put(SandboxId id, Reservation grant) {
    grant.markStarted();
    Reservation before = reservations.put(id, grant);
    if (before != null) {
      before.close();
    }
  }

  /** Returns those that this process can talk to now. */
  public List<Sandbox> all() {
    return List.copyOf(sandboxes.values());
  }

  public boolean contains(SandboxId id) {
    return sandboxes.containsKey(id);
  }

  /** Says that what is written of a sandbox has to be read before anybody uses it. */
  void invalidate(SandboxId id) {
    providers.remove(id);
  }

  /** Says that a sandbox was booted again, and that nothing of what ran in it is left. */
  public void markRebooted(SandboxId id) {
    bootGenerations.put(id, nextGeneration.incrementAndGet());
  }

  /** Returns a number that is another one after each {@link #nextGeneration}. */
  public long bootGeneration(SandboxId id) {
    return bootGenerations.getOrDefault(id, 0L);
  }

  /** Lets go of a sandbox that is gone, and of what was promised to it. */
  public void remove(SandboxId id) {
    sandboxes.remove(id);
    providers.remove(id);
    bootGenerations.remove(id);
    Reservation grant = reservations.remove(id);
    if (grant != null) {
      grant.close();
    }
  }

  /** A sandbox and who made it. */
  public record LiveSandbox(Sandbox sandbox, String provider) {}

  /**
   * Returns a sandbox that was asked for before and is still there. The ledger need not be read for
   * it: nobody else writes what becomes of our sandboxes, and who ends one drops it here.
   */
  public Optional<LiveSandbox> find(SandboxId id) {
    Sandbox known = sandboxes.get(id);
    String provider = providers.get(id);
    return known != null && provider != null && known.state() != SandboxState.DESTROYED
        ? Optional.of(new LiveSandbox(known, provider))
        : Optional.empty();
  }

  /**
   * Returns a sandbox that can be talked to; attaches when this process has not yet.
   *
   * @throws dev.isola.spi.error.Gone when it is not there any more
   */
  public Sandbox get(SandboxEntry entry) {
    SandboxId id = entry.id();
    Sandbox known = sandboxes.get(id);
    if (known != null && known.state() != SandboxState.DESTROYED) {
      if (entry.state() == SandboxState.RUNNING) {
        providers.put(id, entry.provider());
        if (!sandboxes.containsKey(id)) {
          providers.remove(id); // it ended meanwhile
        }
      }
      return known;
    }
    Sandbox found = isGone(entry) ? null : attach(entry);
    if (found == null) {
      throw Fault.of(
              ErrorCode.SANDBOX_DESTROYED,
              "sandbox " + id + " is gone" + entry.cause().map(why -> ": " + why).orElse(""),
              "create a new sandbox")
          .sandbox(id)
          .exception();
    }
    Failpoint.ATTACH_DONE.reach();
    sandboxes.put(id, found);
    // It holds what it was promised by whoever made it.
    reservations.computeIfAbsent(
        id,
        any ->
            admission.adopt(
                entry.provider(),
                Resources.of(SpecCodec.decode(entry.spec(), id).spec().limits())));
    return found;
  }

  private @Nullable Sandbox attach(SandboxEntry entry) {
    Failpoint.ATTACH_BEGUN.reach();
    return registry.get(entry.provider()).attach(entry.id()).orElse(null);
  }

  private static boolean isGone(SandboxEntry entry) {
    return entry.state() == SandboxState.DESTROYED || entry.state() == SandboxState.TERMINATING;
  }
}
