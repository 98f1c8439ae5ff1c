package dev.isola.engine.admission;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets sandboxes in while there is room for what they may use. What is promised counts, not what is
 * used: a sandbox may use its memory at any moment. Who does not fit waits in line, in order.
 */
public final class Admission {
  /** What is promised and what is left, at one moment. */
  public record Usage(Resources capacity, Resources promised, Resources free, int waiting) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Line.Ticket, Condition> turns = new HashMap<>();
  private final Line line;
  private final Duration patience;
  private final InstantSource clock;

  /**
   * @param patience how long somebody waits in line; zero for not at all
   */
  public Admission(Resources capacity, Duration patience, InstantSource clock) {
    this.line = new Line(capacity);
    this.patience = patience;
    this.clock = clock;
  }

  /**
   * Returns a promise of these resources, when it is this caller's turn and they are free.
   *
   * @throws dev.isola.spi.error.LimitExceeded at once when they never fit, after the patience when
   *     they did not become free
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} when interrupted
   */
  public Grant admit(Resources asked) {
    return admit(asked, patience);
  }

  /**
   * Returns a promise of these resources if they are free and nobody waits for them.
   *
   * @throws dev.isola.spi.error.LimitExceeded otherwise, at once
   */
  public Grant admitAtOnce(Resources asked) {
    return admit(asked, Duration.ZERO);
  }

  private Grant admit(Resources asked, Duration patience) {
    lock.lock();
    try {
      if (!asked.fitsIn(line.capacity())) {
        throw never(asked);
      }
      Line.Ticket ticket = line.join(asked, clock.instant().plus(patience));
      if (ticket.state() != Line.State.HOLDING) {
        await(ticket, patience);
      }
      return new Grant(this, ticket);
    } finally {
      lock.unlock();
    }
  }

  /** Counts a sandbox that exists already, as after a restart; there may be no room for it. */
  public Grant adopt(Resources held) {
    lock.lock();
    try {
      return new Grant(this, line.adopt(held));
    } finally {
      lock.unlock();
    }
  }

  public Usage usage() {
    lock.lock();
    try {
      return new Usage(line.capacity(), line.promised(), line.free(), line.waiting());
    } finally {
      lock.unlock();
    }
  }

  void release(Line.Ticket ticket) {
    lock.lock();
    try {
      leave(ticket);
    } finally {
      lock.unlock();
    }
  }

  /** Returns when the ticket holds. Called with the lock, which waiting lets go. */
  private void await(Line.Ticket ticket, Duration patience) {
    Condition turn = lock.newCondition();
    turns.put(ticket, turn);
    try {
      while (ticket.state() == Line.State.WAITING) {
        long left = nanosUntil(ticket.deadline, patience);
        if (left <= 0) {
          SandboxException refusal = full(ticket.asked, patience);
          leave(ticket);
          throw refusal;
        }
        long _ = turn.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      leave(ticket);
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while waiting for room", "ask again")
          .exception(e);
    } finally {
      turns.remove(ticket);
    }
  }

  private long nanosUntil(Instant deadline, Duration patience) {
    Duration left = Duration.between(clock.instant(), deadline);
    // A clock that is set back must not make anybody wait longer than was said.
    return Math.min(
        left.compareTo(patience) > 0 ? patience.toNanos() : left.toNanos(),
        TimeUnit.DAYS.toNanos(1));
  }

  private void leave(Line.Ticket ticket) {
    for (Line.Ticket next : line.leave(ticket)) {
      Condition turn = turns.get(next);
      if (turn != null) {
        turn.signal();
      }
    }
  }

  private SandboxException never(Resources asked) {
    return refusal(
        asked,
        line.capacity(),
        "the sandbox asks for "
            + asked
            + ", and this installation has "
            + line.capacity()
            + " for all",
        "ask for less, or raise admission.memory_mb and admission.cpu");
  }

  private SandboxException full(Resources asked, Duration patience) {
    return refusal(
        asked,
        line.free(),
        "there is no room: the sandbox asks for "
            + asked
            + ", "
            + line.free()
            + " of "
            + line.capacity()
            + " are free, "
            + line.waiting()
            + " waited, this one for "
            + patience.toSeconds()
            + " s",
        "destroy a sandbox, ask for less, try later, or raise admission.memory_mb and"
            + " admission.cpu");
  }

  private SandboxException refusal(Resources asked, Resources room, String what, String remedy) {
    boolean memory = asked.memoryMb() > room.memoryMb();
    return Fault.of(ErrorCode.RESOURCE_LIMIT, what, remedy)
        .with("resource", memory ? "memory" : "cpu")
        .with("limit", memory ? line.capacity().memoryMb() + "" : line.capacity().cpu())
        .with("actual", memory ? asked.memoryMb() + "" : asked.cpu())
        .with("free", memory ? line.free().memoryMb() + "" : line.free().cpu())
        .exception();
  }
}
