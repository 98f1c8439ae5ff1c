package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Grant;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.registry.Registry;
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
public final class Living {
  private final Registry registry;
  private final AdmissionControl admission;
  private final Map<SandboxId, Sandbox> sandboxes = new ConcurrentHashMap<>();
  private final Map<SandboxId, String> providers = new ConcurrentHashMap<>();
  private final Map<SandboxId, Grant> grants = new ConcurrentHashMap<>();
  private final Map<SandboxId, Long> wakings = new ConcurrentHashMap<>();
  private final AtomicLong woken = new AtomicLong();
  private final Set<SandboxId> making = ConcurrentHashMap.newKeySet();

  public Living(Registry registry, AdmissionControl admission) {
    this.registry = registry;
    this.admission = admission;
  }

  /** Says that a sandbox is being made, by us: nobody else is to clean it up. */
  void begin(SandboxId id) {
    making.add(id);
  }

  void made(SandboxId id) {
    making.remove(id);
  }

  /** Tells whether this process is making it now. */
  public boolean isMaking(SandboxId id) {
    return making.contains(id);
  }

  public void keep(Sandbox sandbox) {
    sandboxes.put(sandbox.id(), sandbox);
  }

  public void keep(SandboxId id, Grant grant) {
    grant.started();
    Grant before = grants.put(id, grant);
    if (before != null) {
      before.close();
    }
  }

  /** Returns those that this process can talk to now. */
  public List<Sandbox> all() {
    return List.copyOf(sandboxes.values());
  }

  public boolean has(SandboxId id) {
    return sandboxes.containsKey(id);
  }

  /** Says that what is written of a sandbox has to be read before anybody uses it. */
  void askTheLedger(SandboxId id) {
    providers.remove(id);
  }

  /** Says that a sandbox was booted again, and that nothing of what ran in it is left. */
  public void woken(SandboxId id) {
    wakings.put(id, woken.incrementAndGet());
  }

  /** Returns a number that is another one after each {@link #woken}. */
  public long waking(SandboxId id) {
    return wakings.getOrDefault(id, 0L);
  }

  /** Lets go of a sandbox that is gone, and of what was promised to it. */
  public void drop(SandboxId id) {
    sandboxes.remove(id);
    providers.remove(id);
    wakings.remove(id);
    Grant grant = grants.remove(id);
    if (grant != null) {
      grant.close();
    }
  }

  /** A sandbox and who made it. */
  public record Held(Sandbox sandbox, String provider) {}

  /**
   * Returns a sandbox that was asked for before and is still there. The ledger need not be read for
   * it: nobody else writes what becomes of our sandboxes, and who ends one drops it here.
   */
  public Optional<Held> held(SandboxId id) {
    Sandbox known = sandboxes.get(id);
    String provider = providers.get(id);
    return known != null && provider != null && known.state() != SandboxState.DESTROYED
        ? Optional.of(new Held(known, provider))
        : Optional.empty();
  }

  /**
   * Returns a sandbox that can be talked to; attaches when this process has not yet.
   *
   * @throws dev.isola.spi.error.Gone when it is not there any more
   */
  public Sandbox of(SandboxEntry entry) {
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
    Sandbox found = gone(entry) ? null : attach(entry);
    if (found == null) {
      throw Fault.of(
              ErrorCode.SANDBOX_DESTROYED,
              "sandbox " + id + " is gone" + entry.cause().map(why -> ": " + why).orElse(""),
              "create a new sandbox")
          .sandbox(id)
          .exception();
    }
    Failpoint.LIVING_ATTACHED.reach();
    sandboxes.put(id, found);
    // It holds what it was promised by whoever made it.
    grants.computeIfAbsent(
        id,
        any ->
            admission.adopt(
                entry.provider(),
                Resources.of(SpecText.read(entry.spec(), id).spec().limits())));
    return found;
  }

  private @Nullable Sandbox attach(SandboxEntry entry) {
    Failpoint.LIVING_ATTACHING.reach();
    return registry.get(entry.provider()).attach(entry.id()).orElse(null);
  }

  private static boolean gone(SandboxEntry entry) {
    return entry.state() == SandboxState.DESTROYED || entry.state() == SandboxState.TERMINATING;
  }
}
