package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
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
 * Destroys or suspends sandboxes whose time is up or that were idle too long, as {@link
 * ExpiryPlanner} says. A renewal at the same moment and this both write the entry, and only one of
 * them can.
 */
public final class ExpirySweeper {
  private static final int BATCH_SIZE = 100;
  private static final int PARALLELISM = 8;

  private final Ledger ledger;
  private final SandboxRecorder book;
  private final SandboxDestroyer ender;
  private final Suspender suspender;
  private final ActivityTracker activity;
  private final Quarantine quarantine;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Instant> touched = new ConcurrentHashMap<>();

  public ExpirySweeper(
      Ledger ledger,
      SandboxRecorder book,
      SandboxDestroyer ender,
      Suspender suspender,
      ActivityTracker uses,
      Quarantine quarantine,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.book = book;
    this.ender = ender;
    this.suspender = suspender;
    this.activity = uses;
    this.quarantine = quarantine;
    this.clock = clock;
    this.log = log;
  }

  /** Notes that a sandbox is in use; written with the next sweep. */
  public void touch(SandboxId id) {
    touched.put(id, clock.instant());
  }

  /** Does what is due now; returns how many sandboxes were destroyed. */
  public int sweep() {
    flushActivity();
    // Those in quarantine stay due, and must not keep the others from being found.
    int most = Math.min(SandboxEntries.MAX_LIMIT, BATCH_SIZE + quarantine.size());
    Instant now = clock.instant();
    List<SandboxEntry> due =
        ledger.sandboxes().findExpired(now, most).stream()
            .filter(entry -> !quarantine.holds(entry))
            .toList();
    List<ExpiryStep> steps = ExpiryPlanner.plan(due, now, activity.activeSandboxes());
    return steps.isEmpty() ? 0 : execute(steps);
  }

  /** Several at a time: a provider that hangs does not keep the sandboxes of others alive. */
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

  /** A failure with one sandbox does not keep the others alive. */
  private boolean attempt(ExpiryStep step) {
    try {
      Failpoint.EXPIRY_FOUND.reach();
      return execute(isUsedSince(step) ? new ExpiryStep.Touch(step.entry(), step.reason()) : step);
    } catch (RuntimeException e) {
      log.warning("sandbox " + step.id() + " is due and was not taken down: " + e);
      return false;
    }
  }

  /** Tells whether a client used an idle sandbox since the plan was made. */
  private boolean isUsedSince(ExpiryStep step) {
    return step.reason() == Suspension.Reason.IDLE
        && (touched.containsKey(step.id()) || activity.activeSandboxes().contains(step.id()));
  }

  /** Returns whether the sandbox was destroyed. */
  private boolean execute(ExpiryStep step) {
    return switch (step) {
      case ExpiryStep.Touch touch -> {
        touch(touch.id());
        yield false;
      }
      case ExpiryStep.MarkSuspended(SandboxEntry entry, Suspension.Reason reason) -> {
        book.update(entry, SuspensionState.suspended(entry, reason));
        yield false;
      }
      case ExpiryStep.Suspend suspend -> !suspender.suspend(suspend) && destroy(suspend);
      case ExpiryStep.Destroy destroy -> destroy(destroy);
    };
  }

  private boolean destroy(ExpiryStep step) {
    return book.update(
            step.entry(), book.withState(step.entry(), SandboxState.TERMINATING, step.cause()))
        .map(this::finish)
        .orElse(false);
  }

  private void flushActivity() {
    Map<SandboxId, Instant> noted = new HashMap<>(touched);
    if (!noted.isEmpty()) {
      ledger.sandboxes().touch(noted);
      Failpoint.EXPIRY_ACTIVITY_WRITTEN.reach();
      noted.forEach(touched::remove); // only what has not been noted anew
    }
  }

  private boolean finish(SandboxEntry terminating) {
    try {
      Failpoint.EXPIRY_CLAIMED.reach();
      ender.finishDestroy(terminating, DestroyOptions.FORCE);
      Failpoint.EXPIRY_ENDED.reach();
      return true;
    } catch (SandboxException e) {
      log.warning(
          "sandbox "
              + terminating.id()
              + " expired and cannot be destroyed yet: "
              + e.fault().problem());
      return false;
    }
  }
}
