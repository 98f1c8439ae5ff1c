package dev.isola.engine.event;

import dev.isola.engine.api.EventView;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The events of the ledger, for who follows them: a reader remembers the number of the last one it
 * saw and misses nothing, also across a restart.
 */
public final class EventLog {
  /** Events that another process wrote are noticed this late; our own at once. */
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

  private final Ledger ledger;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition appended = lock.newCondition();

  public EventLog(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Returns the number of the last event; who begins to follow now begins after it. */
  public long lastNumber() {
    return ledger.events().last();
  }

  /** Returns events with larger numbers, in order; none when there are none yet. */
  public List<EventView> after(long number, int limit) {
    return ledger.events().after(number, limit).stream().map(LedgerViews::of).toList();
  }

  /** Like {@link #after}, but waits up to {@code patience} for the first. */
  public List<EventView> await(long number, int limit, Duration patience)
      throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (true) {
      List<EventView> events = after(number, limit);
      long left = until - System.nanoTime();
      if (!events.isEmpty() || left <= 0) {
        return events;
      }
      awaitAppend(Math.min(left, POLL_INTERVAL.toNanos()), number);
    }
  }

  /**
   * Waits until a sandbox is in one of these states.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such sandbox
   * @throws dev.isola.spi.error.DeadlineExceeded when it is not within {@code patience}
   */
  public SandboxEntry waitForState(SandboxId id, Set<SandboxState> states, Duration patience)
      throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (true) {
      long seen = lastNumber();
      SandboxEntry entry =
          ledger
              .sandboxes()
              .find(id)
              .orElseThrow(
                  () ->
                      Fault.of(
                              ErrorCode.SANDBOX_NOT_FOUND,
                              "there is no sandbox " + id,
                              "list the sandboxes")
                          .sandbox(id)
                          .exception());
      if (states.contains(entry.state())) {
        return entry;
      }
      long left = until - System.nanoTime();
      if (left <= 0) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "sandbox " + id + " is " + entry.state() + " and not yet one of " + states,
                "wait longer, or look at its events")
            .sandbox(id)
            .exception();
      }
      await(seen, 1, Duration.ofNanos(left));
    }
  }

  /** Writes an event that belongs to no change of state. */
  public void append(NewEvent event) {
    ledger.events().append(event);
    notifyReaders();
  }

  /** Wakes who waits; called when something was written. */
  public void notifyReaders() {
    Failpoint.EVENT_SIGNALLED.reach();
    lock.lock();
    try {
      appended.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void awaitAppend(long nanos, long number) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      // Looked at again under the lock: what came in between has signalled nobody.
      long left = nanos;
      while (left > 0 && ledger.events().last() <= number) {
        left = appended.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
