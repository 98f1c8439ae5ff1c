package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.engine.peer.Ownership;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Destroys or suspends expired and idle sandboxes as {@link ExpiryPlanner} decides. If a client
 * renews a sandbox at the same time, compare-and-set lets only one of the two changes succeed.
 */
public final class ExpirySweeper {
  private static final int BATCH_SIZE = 100;
  private static final int PARALLELISM = 8;

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

  /** Handles all due sandboxes of this server and returns how many were destroyed. */
  public int sweep() {
    flushActivity();
    // Quarantined sandboxes stay due; raise the limit so that they do not hide others.
    int most = Math.min(SandboxEntries.MAX_LIMIT, BATCH_SIZE + quarantine.size());
    Instant now = clock.instant();
    List<SandboxEntry> due =
        ledger.sandboxes().findExpired(ownership.server(), now, most).stream()
            .filter(entry -> !quarantine.holds(entry))
            .toList();
    List<ExpiryStep> steps = ExpiryPlanner.plan(due, now, activity.activeSandboxes());
    return steps.isEmpty() ? 0 : execute(steps);
  }

  /**
   * Executes several steps in parallel, so that a hanging provider does not delay other sandboxes.
   */
  private int execute(List<ExpiryStep> steps) {
    AtomicInteger destroyed = new AtomicInteger();
    try (ExecutorService workers =
        Executors.newFixedThreadPool(
            Math.min(PARALLELISM, steps.size()),
            Thread.ofVirtual().name("isola-expiry-", 0).factory())) {
      for (ExpiryStep step : steps) {
        workers.execute(
            () -> {
              if (attempt(step)) {
                destroyed.incrementAndGet();
              }
            });
      }
    }
    return destroyed.get();
  }

  /** Executes one step; a failure does not affect other sandboxes. */
  private boolean attempt(ExpiryStep step) {
    try {
      Failpoint.EXPIRY_FOUND.reach();
      return execute(isUsedSince(step) ? new ExpiryStep.Touch(step.entry(), step.reason()) : step);
    } catch (RuntimeException e) {
      log.warning("sandbox " + step.id() + " is due but was neither destroyed nor suspended: " + e);
      return false;
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

  private void flushActivity() {
    Map<SandboxId, Instant> flushed = new HashMap<>(touched);
    if (!flushed.isEmpty()) {
      ledger.sandboxes().touch(flushed);
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
