package dev.isola.engine.api.event;

import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.EventView;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Reads the events of the ledger. A reader remembers the number of the last event that it processed
 * and misses none, even across a restart.
 */
public final class EventLog {
  /** The types of events. */
  public static final List<String> TYPES =
      List.of(
          "spawn",
          "ready",
          "stateChange",
          "resourceWarning",
          "error",
          "terminate",
          "snapshotProgress",
          "snapshot",
          "snapshotFailed",
          "quarantine",
          "egressDenied",
          "egressConnection");

  private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

  private final Ledger ledger;
  private final Duration pollInterval;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition appended = lock.newCondition();

  public EventLog(Ledger ledger) {
    this(ledger, POLL_INTERVAL);
  }

  /**
   * @param pollInterval the delay after which events of other servers are noticed; own events are
   *     signalled
   */
  public EventLog(Ledger ledger, Duration pollInterval) {
    this.ledger = ledger;
    this.pollInterval = pollInterval;
  }

  /** Returns the number of the last event. A reader that wants only new events starts after it. */
  public long lastNumber() {
    return ledger.events().last();
  }

  /** Returns the events after {@code number}, in order; empty if there are none yet. */
  public List<EventView> after(long number, int limit) {
    return ledger.events().after(number, limit).stream().map(LedgerViews::of).toList();
  }

  /**
   * Returns the events after {@code number} like {@link #after}, waiting up to {@code timeout} for
   * the first one.
   */
  public List<EventView> await(long number, int limit, Duration timeout)
      throws InterruptedException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      List<EventView> events = after(number, limit);
      long left = deadline.leftNanos();
      if (!events.isEmpty() || left <= 0) {
        return events;
      }
      awaitAppend(Math.min(left, pollInterval.toNanos()), number);
    }
  }

  /**
   * Waits until a sandbox is in one of the given states.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Conflict if it can no longer reach any of them
   * @throws dev.isola.spi.error.DeadlineExceeded if it does not reach one within {@code timeout}
   */
  public SandboxEntry waitForState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    return awaitState(id, states, timeout)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.DEADLINE_EXCEEDED,
                        "sandbox "
                            + id
                            + " did not become "
                            + words(states)
                            + " within "
                            + timeout.toMillis()
                            + " ms",
                        "wait longer, or check its events")
                    .sandbox(id)
                    .exception());
  }

  /**
   * Waits until a sandbox is in one of the given states; empty if it is not within {@code timeout}.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Conflict if it can no longer reach any of them
   */
  public Optional<SandboxEntry> awaitState(SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      long seen = lastNumber();
      SandboxEntry entry = ledger.sandboxes().find(id).orElseThrow(() -> notFound(id));
      if (states.contains(entry.state())) {
        return Optional.of(entry);
      }
      if (Collections.disjoint(reachable(entry.state()), states)) {
        throw unreachable(entry, states);
      }
      if (deadline.over()) {
        return Optional.empty();
      }
      await(seen, 1, deadline.left());
    }
  }

  /** Returns the states that a sandbox in this state can get to, by any number of transitions. */
  private static Set<SandboxState> reachable(SandboxState from) {
    Set<SandboxState> reached = EnumSet.noneOf(SandboxState.class);
    Deque<SandboxState> open = new ArrayDeque<>(from.successors());
    while (!open.isEmpty()) {
      SandboxState state = open.pop();
      if (reached.add(state)) {
        open.addAll(state.successors());
      }
    }
    return reached;
  }

  private static SandboxException notFound(SandboxId id) {
    return Fault.of(ErrorCode.SANDBOX_NOT_FOUND, "there is no sandbox " + id, "list the sandboxes")
        .sandbox(id)
        .exception();
  }

  private static SandboxException unreachable(SandboxEntry entry, Set<SandboxState> states) {
    return Fault.of(
            ErrorCode.ILLEGAL_STATE,
            "sandbox "
                + entry.id()
                + " is "
                + word(entry.state())
                + " and can no longer become "
                + words(states),
            "wait for another state, or create a new sandbox")
        .sandbox(entry.id())
        .with("state", word(entry.state()))
        .exception();
  }

  private static String words(Set<SandboxState> states) {
    return states.stream().sorted().map(EventLog::word).collect(Collectors.joining(" or "));
  }

  private static String word(SandboxState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  /** Appends an event that is not a state change. */
  public void append(NewEvent event) {
    ledger.events().append(event);
    notifyReaders();
  }

  /** Wakes waiting readers. Call it after events were appended. */
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
      // Checks again while holding the lock, because an event appended before was not signalled
      // here.
      long left = nanos;
      while (left > 0 && ledger.events().last() <= number) {
        left = appended.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
