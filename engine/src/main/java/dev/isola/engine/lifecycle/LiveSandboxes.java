package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The sandboxes that this process is attached to, and their reservations. */
public final class LiveSandboxes {
  private final ProviderRegistry registry;
  private final AdmissionControl admission;
  private final SandboxNetworks networks;
  private final Ownership ownership;
  private final Map<SandboxId, Sandbox> sandboxes = new ConcurrentHashMap<>();
  private final Map<SandboxId, String> providers = new ConcurrentHashMap<>();
  private final Map<SandboxId, Reservation> reservations = new ConcurrentHashMap<>();
  private final Map<SandboxId, Long> bootGenerations = new ConcurrentHashMap<>();
  private final AtomicLong nextGeneration = new AtomicLong();
  private final Set<SandboxId> inTransition = ConcurrentHashMap.newKeySet();
  private final Set<SandboxId> ending = ConcurrentHashMap.newKeySet();

  public LiveSandboxes(
      ProviderRegistry registry,
      AdmissionControl admission,
      SandboxNetworks networks,
      Ownership ownership) {
    this.registry = registry;
    this.admission = admission;
    this.networks = networks;
    this.ownership = ownership;
  }

  /**
   * Marks a sandbox that this process is creating or suspending, so that reconciliation ignores it.
   */
  void beginTransition(SandboxId id) {
    inTransition.add(id);
  }

  void endTransition(SandboxId id) {
    inTransition.remove(id);
  }

  /** Returns whether this process is creating or suspending the sandbox. */
  public boolean isInTransition(SandboxId id) {
    return inTransition.contains(id);
  }

  public void put(Sandbox sandbox) {
    sandboxes.put(sandbox.id(), sandbox);
  }

  public void put(SandboxId id, Reservation reservation) {
    reservation.markStarted();
    Reservation before = reservations.put(id, reservation);
    if (before != null) {
      before.close();
    }
  }

  /** Returns the sandboxes that this process is attached to. */
  public List<Sandbox> all() {
    return List.copyOf(sandboxes.values());
  }

  public boolean contains(SandboxId id) {
    return sandboxes.containsKey(id);
  }

  /** Drops the cached provider of a sandbox, so that its next use reads the ledger. */
  void invalidate(SandboxId id) {
    providers.remove(id);
  }

  /** Records that a sandbox was booted again and its earlier processes are gone. */
  public void markRebooted(SandboxId id) {
    bootGenerations.put(id, nextGeneration.incrementAndGet());
  }

  /** Returns a number that changes with every {@link #markRebooted}. */
  public long bootGeneration(SandboxId id) {
    return bootGenerations.getOrDefault(id, 0L);
  }

  /** Refuses further use of a sandbox whose processes are about to be killed. */
  void beginDestroy(SandboxId id) {
    ending.add(id);
  }

  /** Permits the use of a sandbox that could not be destroyed. */
  void cancelDestroy(SandboxId id) {
    ending.remove(id);
  }

  /** Carries the connections of a sandbox that runs, or runs again. */
  public void connect(SandboxEntry entry, Sandbox sandbox) {
    networks.attach(sandbox, SpecCodec.decode(entry.spec(), entry.id()).spec(), entry.provider());
  }

  /** Removes a sandbox that is destroyed or belongs to another server, with its reservation. */
  public void remove(SandboxId id) {
    networks.detach(id);
    sandboxes.remove(id);
    ending.remove(id);
    providers.remove(id);
    bootGenerations.remove(id);
    Reservation reservation = reservations.remove(id);
    if (reservation != null) {
      reservation.close();
    }
  }

  /** A sandbox and its provider. */
  public record LiveSandbox(Sandbox sandbox, String provider) {}

  /**
   * Returns a sandbox that was used before and still exists, without reading the ledger. This is
   * safe, because only this process changes the state of its sandboxes, and it removes the ones it
   * destroys. Empty while other servers may have taken over sandboxes of this one.
   */
  public Optional<LiveSandbox> find(SandboxId id) {
    Sandbox known = sandboxes.get(id);
    String provider = providers.get(id);
    return known != null
            && provider != null
            && ownership.isCurrent()
            && known.state() != SandboxState.DESTROYED
            && !ending.contains(id)
        ? Optional.of(new LiveSandbox(known, provider))
        : Optional.empty();
  }

  /**
   * Returns a sandbox, attaching to it if necessary.
   *
   * @throws dev.isola.spi.error.Gone if it no longer exists
   * @throws dev.isola.spi.error.ProviderUnavailable if another server owns it
   */
  public Sandbox get(SandboxEntry entry) {
    ownership.require(entry);
    SandboxId id = entry.id();
    Sandbox known = sandboxes.get(id);
    boolean usable = !ending.contains(id);
    if (usable && known != null && known.state() != SandboxState.DESTROYED) {
      if (entry.state() == SandboxState.RUNNING) {
        providers.put(id, entry.provider());
        if (!sandboxes.containsKey(id)) {
          providers.remove(id); // it was removed concurrently
        }
      }
      return known;
    }
    Sandbox found = !usable || isGone(entry) ? null : attach(entry);
    if (found == null) {
      throw gone(entry);
    }
    Failpoint.ATTACH_DONE.reach();
    if (entry.state() == SandboxState.RUNNING) {
      connect(entry, found);
    }
    sandboxes.put(id, found);
    // Another process created it; count its resources here, too.
    reservations.computeIfAbsent(
        id,
        any ->
            admission.adopt(
                entry.provider(),
                Resources.of(SpecCodec.decode(entry.spec(), id).spec().limits())));
    return found;
  }

  private static SandboxException gone(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + entry.id() + " is gone" + entry.cause().map(why -> ": " + why).orElse(""),
            "create a new sandbox")
        .sandbox(entry.id())
        .exception();
  }

  /** Returns a sandbox like {@link #get}; one of another server refuses every use. */
  Sandbox getOrRefusing(SandboxEntry entry) {
    if (isGone(entry)) {
      throw gone(entry);
    }
    return ownership.owns(entry)
        ? get(entry)
        : (Sandbox)
            Proxy.newProxyInstance(
                Sandbox.class.getClassLoader(),
                new Class<?>[] {Sandbox.class},
                (self, method, arguments) -> {
                  throw Ownership.notOwner(entry);
                });
  }

  private @Nullable Sandbox attach(SandboxEntry entry) {
    Failpoint.ATTACH_BEGUN.reach();
    return registry.get(entry.provider()).attach(entry.id()).orElse(null);
  }

  private static boolean isGone(SandboxEntry entry) {
    return entry.state() == SandboxState.DESTROYED || entry.state() == SandboxState.TERMINATING;
  }
}
