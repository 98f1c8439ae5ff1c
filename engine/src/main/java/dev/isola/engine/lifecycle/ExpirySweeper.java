package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.registry.ProviderWorkers;
import dev.isola.engine.peer.Ownership;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.DiskReserve;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Destroys or suspends expired and idle sandboxes as {@link ExpiryPlanner} decides. If a client
 * renews a sandbox at the same time, compare-and-set lets only one of the two changes succeed. A
 * provider that hangs delays only its own sandboxes.
 */
public final class ExpirySweeper implements AutoCloseable {
  private static final int BATCH_SIZE = 256;

  /** How many sandboxes of a provider are destroyed or suspended at a time. */
  private static final int PARALLELISM = 32;

  /** A provider with so many unfinished sandboxes gets no more, so that others are found. */
  private static final int MAX_UNFINISHED = 2 * BATCH_SIZE;

  /** How long a sweep waits for slow sandboxes, which continue afterwards. */
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private final ProviderWorkers workers = new ProviderWorkers("isola-expiry", PARALLELISM);

  /** The due sandboxes for which the last attempt failed; they stay due. */
  private final Set<SandboxId> failed = ConcurrentHashMap.newKeySet();

  private final Ledger ledger;
  private final SandboxRecorder recorder;
  private final SandboxDestroyer destroyer;
  private final Suspender suspender;
  private final ActivityTracker activity;
  private final Quarantine quarantine;
  private final Ownership ownership;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Instant> touched = new ConcurrentHashMap<>();

  public ExpirySweeper(
      Ledger ledger,
      SandboxRecorder recorder,
      SandboxDestroyer destroyer,
      Suspender suspender,
      ActivityTracker activity,
      Quarantine quarantine,
      Ownership ownership,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.recorder = recorder;
    this.destroyer = destroyer;
    this.suspender = suspender;
    this.activity = activity;
    this.quarantine = quarantine;
    this.ownership = ownership;
    this.clock = clock;
    this.log = log;
  }

  /** Records activity of a sandbox in memory; the next sweep writes it to the ledger. */
  public void touch(SandboxId id) {
    touched.put(id, clock.instant());
  }

  /**
   * Handles the due sandboxes of this server and returns how many were destroyed. Continues without
   * a pause while there are more and some of them are dealt with.
   */
  public int sweep() {
    int destroyed = 0;
    Batch batch;
    do {
      batch = sweepBatch();
      destroyed += batch.destroyed();
    } while (batch.full()
        && batch.handled() > 0
        && ownership.isCurrent()
        && !Thread.currentThread().isInterrupted());
    return destroyed;
  }

  /**
   * What became of some due sandboxes.
   *
   * @param full whether there may be more
   * @param handled how many are not due any more
   */
  private record Batch(boolean full, int handled, int destroyed) {}

  private Batch sweepBatch() {
    flushActivity();
    Set<String> busy = workers.busy(MAX_UNFINISHED);
    // Sandboxes that stay due for now must not hide others.
    int most =
        Math.min(
            SandboxEntries.MAX_LIMIT,
            BATCH_SIZE + quarantine.size() + failed.size() + workers.pending());
    Instant now = clock.instant();
    List<SandboxEntry> due = ledger.sandboxes().findExpired(ownership.server(), busy, now, most);
    failed.retainAll(due.stream().map(SandboxEntry::id).collect(Collectors.toSet()));
    List<SandboxEntry> ready =
        due.stream()
            .filter(entry -> !quarantine.holds(entry))
            .filter(entry -> !workers.isPending(entry.provider(), entry.id()))
            .toList();
    List<ExpiryStep> steps = ExpiryPlanner.plan(ready, now, activity.activeSandboxes());
    AtomicInteger handled = new AtomicInteger();
    AtomicInteger destroyed = new AtomicInteger();
    boolean _ =
        workers.run(
            steps.stream()
                .map(
                    step ->
                        new ProviderWorkers.Work(
                            step.entry().provider(),
                            step.id(),
                            () -> attempt(step, handled, destroyed)))
                .toList(),
            LIMIT);
    return new Batch(due.size() == most, handled.get(), destroyed.get());
  }

  /** Executes one step; a failure does not affect other sandboxes. */
  private void attempt(ExpiryStep step, AtomicInteger handled, AtomicInteger destroyed) {
    try {
      Failpoint.EXPIRY_FOUND.reach();
      ExpiryStep current =
          isUsedSince(step) ? new ExpiryStep.Touch(step.entry(), step.reason()) : step;
      // A suspension that fails on a full disk is recorded, so that it is not tried all the time.
      destroyed.addAndGet(DiskReserve.freeing(() -> execute(current)) ? 1 : 0);
      handled.addAndGet(current instanceof ExpiryStep.Touch ? 0 : 1);
      failed.remove(step.id());
    } catch (RuntimeException e) {
      failed.add(step.id());
      log.warning("sandbox " + step.id() + " is due but was neither destroyed nor suspended: " + e);
    }
  }

  /** Returns whether a client used the idle sandbox after the plan was made. */
  private boolean isUsedSince(ExpiryStep step) {
    return step.reason() == Suspension.Reason.IDLE
        && (touched.containsKey(step.id()) || activity.activeSandboxes().contains(step.id()));
  }

  /** Executes a step and returns whether the sandbox was destroyed. */
  private boolean execute(ExpiryStep step) {
    return switch (step) {
      case ExpiryStep.Touch touch -> {
        touch(touch.id());
        yield false;
      }
      case ExpiryStep.MarkSuspended(SandboxEntry entry, Suspension.Reason reason) -> {
        recorder.update(entry, SuspensionState.suspended(entry, reason));
        yield false;
      }
      case ExpiryStep.Suspend suspend -> !suspender.suspend(suspend) && destroy(suspend);
      case ExpiryStep.Destroy destroy -> destroy(destroy);
    };
  }

  private boolean destroy(ExpiryStep step) {
    return recorder
        .update(
            step.entry(), recorder.withState(step.entry(), SandboxState.TERMINATING, step.cause()))
        .map(this::finish)
        .orElse(false);
  }

  /** Interrupts the work that sweeps no longer wait for. */
  @Override
  public void close() {
    workers.close();
  }

  private void flushActivity() {
    Map<SandboxId, Instant> flushed = new HashMap<>(touched);
    if (!flushed.isEmpty()) {
      try {
        ledger.sandboxes().touch(flushed);
      } catch (LimitExceeded full) {
        return; // what is not written keeps a sandbox from being idle here, and nothing from ending
      }
      Failpoint.EXPIRY_ACTIVITY_WRITTEN.reach();
      flushed.forEach(touched::remove); // keeps entries that were touched again meanwhile
    }
  }

  private boolean finish(SandboxEntry terminating) {
    try {
      Failpoint.EXPIRY_CLAIMED.reach();
      destroyer.finishDestroy(terminating, DestroyOptions.FORCE);
      Failpoint.EXPIRY_ENDED.reach();
      return true;
    } catch (SandboxException e) {
      log.warning(
          "sandbox "
              + terminating.id()
              + " has expired but cannot be destroyed yet: "
              + e.fault().problem());
      return false;
    }
  }
}
