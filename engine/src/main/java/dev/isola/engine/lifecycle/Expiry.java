package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Sandboxes;
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
 * Destroys or suspends sandboxes whose time is up or that were idle too long, as {@link ExpiryPlan}
 * says. A renewal at the same moment and this both write the entry, and only one of them can.
 */
public final class Expiry {
  private static final int AT_ONCE = 100;
  private static final int TOGETHER = 8;

  private final Ledger ledger;
  private final Book book;
  private final Ender ender;
  private final Suspender suspender;
  private final Uses uses;
  private final Quarantine quarantine;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Instant> used = new ConcurrentHashMap<>();

  public Expiry(
      Ledger ledger,
      Book book,
      Ender ender,
      Suspender suspender,
      Uses uses,
      Quarantine quarantine,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.book = book;
    this.ender = ender;
    this.suspender = suspender;
    this.uses = uses;
    this.quarantine = quarantine;
    this.clock = clock;
    this.log = log;
  }

  /** Notes that a sandbox is in use; written with the next sweep. */
  public void used(SandboxId id) {
    used.put(id, clock.instant());
  }

  /** Does what is due now; returns how many sandboxes were destroyed. */
  public int sweep() {
    flush();
    // Those in quarantine stay due, and must not keep the others from being found.
    int most = Math.min(Sandboxes.MAX_LIMIT, AT_ONCE + quarantine.size());
    Instant now = clock.instant();
    List<SandboxEntry> due =
        ledger.sandboxes().expired(now, most).stream()
            .filter(entry -> !quarantine.holds(entry))
            .toList();
    List<ExpiryStep> steps = ExpiryPlan.plan(due, now, uses.open());
    return steps.isEmpty() ? 0 : take(steps);
  }

  /** Several at a time: a provider that hangs does not keep the sandboxes of others alive. */
  private int take(List<ExpiryStep> steps) {
    AtomicInteger destroyed = new AtomicInteger();
    try (ExecutorService workers =
        Executors.newFixedThreadPool(
            Math.min(TOGETHER, steps.size()),
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
      return take(isUsedSince(step) ? new ExpiryStep.Touch(step.entry(), step.reason()) : step);
    } catch (RuntimeException e) {
      log.warning("sandbox " + step.id() + " is due and was not taken down: " + e);
      return false;
    }
  }

  /** Tells whether a client used an idle sandbox since the plan was made. */
  private boolean isUsedSince(ExpiryStep step) {
    return step.reason() == Suspension.Reason.IDLE
        && (used.containsKey(step.id()) || uses.open().contains(step.id()));
  }

  /** Returns whether the sandbox was destroyed. */
  private boolean take(ExpiryStep step) {
    return switch (step) {
      case ExpiryStep.Touch touch -> {
        used(touch.id());
        yield false;
      }
      case ExpiryStep.MarkSuspended(SandboxEntry entry, Suspension.Reason reason) -> {
        book.write(entry, SuspensionState.suspended(entry, reason));
        yield false;
      }
      case ExpiryStep.Suspend suspend -> !suspender.suspend(suspend) && destroy(suspend);
      case ExpiryStep.Destroy destroy -> destroy(destroy);
    };
  }

  private boolean destroy(ExpiryStep step) {
    return book.write(
            step.entry(), book.moved(step.entry(), SandboxState.TERMINATING, step.cause()))
        .map(this::finish)
        .orElse(false);
  }

  private void flush() {
    Map<SandboxId, Instant> noted = new HashMap<>(used);
    if (!noted.isEmpty()) {
      ledger.sandboxes().touch(noted);
      Failpoint.EXPIRY_NOTED.reach();
      noted.forEach(used::remove); // only what has not been noted anew
    }
  }

  private boolean finish(SandboxEntry terminating) {
    try {
      Failpoint.EXPIRY_CLAIMED.reach();
      ender.finish(terminating, Destroy.FORCE);
      Failpoint.EXPIRY_ENDED.reach();
      return true;
    } catch (SandboxException e) {
      log.warning(
          "sandbox "
              + terminating.id()
              + " expired and cannot be destroyed yet: "
              + e.fault().what());
      return false;
    }
  }
}
