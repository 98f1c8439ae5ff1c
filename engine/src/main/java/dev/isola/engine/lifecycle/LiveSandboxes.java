package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The sandboxes that this process is attached to, creates, suspends or destroys: one {@link
 * LiveSandbox} for each, with its own lock. Two sandboxes never wait for each other.
 */
public final class LiveSandboxes {
  private final ProviderRegistry registry;
  private final AdmissionControl admission;
  private final SandboxNetworks networks;
  private final Ownership ownership;
  private final Map<SandboxId, LiveSandbox> entries = new ConcurrentHashMap<>();
  private final AtomicLong nextGeneration = new AtomicLong();

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

  /** Applies a function to the entry of a sandbox under its lock; creates a missing entry. */
  private <T extends @Nullable Object> T locked(SandboxId id, Function<LiveSandbox, T> action) {
    while (true) {
      LiveSandbox one = entries.computeIfAbsent(id, _ -> new LiveSandbox());
      synchronized (one) {
        if (!one.dropped) {
          T result = action.apply(one);
          if (one.isEmpty()) {
            one.dropped = true;
            entries.remove(id);
          }
          return result;
        }
      }
    }
  }

  private void change(SandboxId id, Consumer<LiveSandbox> change) {
    boolean _ =
        locked(
            id,
            one -> {
              change.accept(one);
              return true;
            });
  }

  /** Reads the entry of a sandbox under its lock; empty if there is none, or the result is null. */
  private <T> Optional<T> read(SandboxId id, Function<LiveSandbox, @Nullable T> value) {
    LiveSandbox one = entries.get(id);
    if (one == null) {
      return Optional.empty();
    }
    synchronized (one) {
      return Optional.ofNullable(value.apply(one));
    }
  }

  /**
   * Marks a sandbox that this process is creating or suspending, so that reconciliation ignores it.
   */
  public void beginTransition(SandboxId id) {
    change(id, one -> one.inTransition = true);
  }

  public void endTransition(SandboxId id) {
    change(id, one -> one.inTransition = false);
  }

  /** Returns whether this process is creating or suspending the sandbox. */
  public boolean isInTransition(SandboxId id) {
    return read(id, one -> one.inTransition).orElse(false);
  }

  /** Adds a sandbox that this process has created or restored, with its reservation. */
  public void add(Sandbox sandbox, Reservation reservation) {
    reservation.markStarted();
    Reservation before =
        locked(
            sandbox.id(),
            one -> {
              Reservation old = one.reservation;
              one.sandbox = sandbox;
              one.reservation = reservation;
              return old;
            });
    if (before != null) {
      before.close();
    }
  }

  /** Returns the sandboxes that this process is attached to. */
  public List<Sandbox> all() {
    return entries.keySet().stream().flatMap(id -> read(id, one -> one.sandbox).stream()).toList();
  }

  /** Returns whether this process is attached to a sandbox. */
  public boolean contains(SandboxId id) {
    return read(id, one -> one.sandbox).isPresent();
  }

  /** Makes the next use of a sandbox read the ledger. */
  void invalidate(SandboxId id) {
    change(id, one -> one.provider = null);
  }

  /** Records that a sandbox was booted again and its earlier processes are gone. */
  public void markRebooted(SandboxId id) {
    change(id, one -> one.bootGeneration = nextGeneration.incrementAndGet());
  }

  /** Returns a number that changes with every {@link #markRebooted}. */
  public long bootGeneration(SandboxId id) {
    return read(id, one -> one.bootGeneration).orElse(0L);
  }

  /** Refuses further use of a sandbox whose processes are about to be killed. */
  void beginDestroy(SandboxId id) {
    change(id, one -> one.ending = true);
  }

  /** Permits the use of a sandbox that could not be destroyed. */
  void cancelDestroy(SandboxId id) {
    change(id, one -> one.ending = false);
  }

  /** Carries the connections of a sandbox that runs, or runs again. */
  public void connect(SandboxEntry entry, Sandbox sandbox) {
    networks.attach(sandbox, SpecCodec.decode(entry.spec(), entry.id()).spec(), entry.provider());
  }

  /** Removes a sandbox that is destroyed or belongs to another server, with its reservation. */
  public void remove(SandboxId id) {
    networks.detach(id);
    Reservation reservation =
        locked(
            id,
            one -> {
              Reservation held = one.reservation;
              one.sandbox = null;
              one.provider = null;
              one.reservation = null;
              one.bootGeneration = 0;
              one.ending = false;
              one.removals++;
              return held;
            });
    if (reservation != null) {
      reservation.close();
    }
  }

  /** A sandbox that this process is attached to, and its provider. */
  public record AttachedSandbox(Sandbox sandbox, String provider) {}

  /**
   * Returns a sandbox that was used before and still exists, without reading the ledger. This is
   * safe, because only this process changes the state of its sandboxes, and it removes the ones it
   * destroys. Empty while the sandbox is suspended or resumed, because only the ledger tells how
   * far that is, and while other servers may have taken over sandboxes of this one.
   */
  public Optional<AttachedSandbox> find(SandboxId id) {
    return read(
            id,
            one ->
                one.sandbox == null
                        || one.provider == null
                        || one.ending
                        || one.isInProgress(ExclusiveOperation.SUSPENSION)
                    ? null
                    : new AttachedSandbox(one.sandbox, one.provider))
        .filter(one -> ownership.isCurrent() && one.sandbox().state() != SandboxState.DESTROYED);
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
    if (read(id, one -> one.ending).orElse(false)) {
      throw gone(entry);
    }
    Optional<Sandbox> known =
        read(id, one -> one.sandbox).filter(one -> one.state() != SandboxState.DESTROYED);
    if (known.isPresent()) {
      if (entry.state() == SandboxState.RUNNING) {
        change(id, one -> one.provider = one.sandbox == null ? null : entry.provider());
      }
      return known.get();
    }
    if (isGone(entry)) {
      throw gone(entry);
    }
    return attach(entry);
  }

  private Sandbox attach(SandboxEntry entry) {
    SandboxId id = entry.id();
    long removals =
        locked(
            id,
            one -> {
              one.holders++;
              return one.removals;
            });
    try {
      Failpoint.ATTACH_BEGUN.reach();
      Sandbox found = registry.get(entry.provider()).attach(id).orElseThrow(() -> gone(entry));
      Failpoint.ATTACH_DONE.reach();
      if (entry.state() == SandboxState.RUNNING) {
        connect(entry, found);
      }
      change(
          id,
          one -> {
            if (one.removals == removals) { // otherwise it was destroyed or suspended meanwhile
              one.sandbox = found;
              adopt(one, entry);
            }
          });
      return found;
    } finally {
      release(id);
    }
  }

  /** Counts the resources of a sandbox that another process created. */
  private void adopt(LiveSandbox one, SandboxEntry entry) {
    if (one.reservation == null) {
      one.reservation =
          admission.adopt(
              entry.provider(),
              Resources.of(SpecCodec.decode(entry.spec(), entry.id()).spec().limits()));
    }
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
  public Sandbox getOrRefusing(SandboxEntry entry) {
    if (isGone(entry)) {
      throw gone(entry);
    }
    return ownership.owns(entry) ? get(entry) : new RefusingSandbox(entry);
  }

  private static boolean isGone(SandboxEntry entry) {
    return entry.state() == SandboxState.DESTROYED || entry.state() == SandboxState.TERMINATING;
  }

  /** Ends an operation; the thread that began it closes it. */
  public interface Operation extends AutoCloseable {
    @Override
    void close();
  }

  /** Begins an operation, unless another thread carries it out. */
  Optional<Operation> tryBegin(SandboxId id, ExclusiveOperation operation) {
    ReentrantLock lock = hold(id, operation);
    if (lock.tryLock()) {
      return Optional.of(() -> end(id, lock));
    }
    release(id);
    return Optional.empty();
  }

  /**
   * Begins an operation when no other thread carries it out.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if another thread does not end it in time
   */
  public Operation begin(SandboxId id, ExclusiveOperation operation, Duration wait) {
    ReentrantLock lock = hold(id, operation);
    boolean taken = false;
    try {
      taken = lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "the request was ended while it waited for "
                  + operation.description
                  + " of sandbox "
                  + id,
              "repeat the request")
          .sandbox(id)
          .exception(e);
    } finally {
      if (!taken) {
        release(id);
      }
    }
    if (!taken) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              operation.description
                  + " of sandbox "
                  + id
                  + " has taken more than "
                  + wait.toSeconds()
                  + " s",
              "try again later")
          .sandbox(id)
          .exception();
    }
    return () -> end(id, lock);
  }

  /** Returns the lock of an operation; the entry stays in the map until {@link #release}. */
  private ReentrantLock hold(SandboxId id, ExclusiveOperation operation) {
    return locked(
        id,
        one -> {
          one.holders++;
          return one.lock(operation);
        });
  }

  private void release(SandboxId id) {
    change(id, one -> one.holders--);
  }

  private void end(SandboxId id, ReentrantLock lock) {
    lock.unlock();
    release(id);
  }
}
