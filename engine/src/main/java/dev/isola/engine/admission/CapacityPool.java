package dev.isola.engine.admission;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Admits sandboxes while there is room. Limits are ceilings: the sum of them is bounded only where
 * the operator says so, and otherwise the state of the machine decides ({@link Headroom}). A
 * request that does not fit waits in line, in order.
 */
public final class CapacityPool {
  /** What is promised and what is left, at one moment. */
  public record Usage(Resources capacity, Resources reserved, Resources free, int waiting) {}

  private final ReentrantLock lock = new ReentrantLock();

  /** How often a waiting request looks at the machine, whose state changes without a signal. */
  private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Map<AdmissionQueue.Ticket, Condition> conditions = new HashMap<>();
  private final Capacity capacity;
  private final AdmissionQueue queue;
  private final Headroom headroom;
  private final Duration queueTimeout;
  private final InstantSource clock;

  /**
   * @param capacity what may be promised together
   * @param patience how long a request waits in line; zero for not at all
   */
  public CapacityPool(
      Capacity capacity, Headroom headroom, Duration patience, InstantSource clock) {
    this.capacity = capacity;
    this.queue = new AdmissionQueue(capacity, headroom);
    this.headroom = headroom;
    this.queueTimeout = patience;
    this.clock = clock;
  }

  /** An admission by limits alone, whatever the machine's state is. */
  public CapacityPool(Resources capacity, Duration patience, InstantSource clock) {
    this(Capacity.ofInstallation(capacity), Headroom.UNCHECKED, patience, clock);
  }

  /**
   * Returns a promise of these resources, when it is this caller's turn and they are free.
   *
   * @param provider the one that runs the sandbox
   * @throws dev.isola.spi.error.LimitExceeded at once when they never fit, after the patience when
   *     they did not become free
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} when interrupted
   */
  public Reservation admit(String provider, Resources asked) {
    return admit(provider, asked, queueTimeout);
  }

  /**
   * Returns a promise of these resources if they are free and nobody waits for them.
   *
   * @throws dev.isola.spi.error.LimitExceeded otherwise, at once
   */
  public Reservation admitNow(String provider, Resources asked) {
    return admit(provider, asked, Duration.ZERO);
  }

  /** Tells whether this could be promised while nothing else is. */
  boolean canEverFit(Resources asked) {
    return asked.fitsIn(capacity.resources()) && headroom.permanentShortage(asked).isEmpty();
  }

  private Reservation admit(String provider, Resources asked, Duration patience) {
    lock.lock();
    try {
      if (!asked.fitsIn(capacity.resources())) {
        throw neverFits(asked);
      }
      headroom
          .permanentShortage(asked)
          .ifPresent(
              shortage -> {
                throw refusal(
                    shortage,
                    shortage.message() + " at best",
                    "ask for less, or raise admission.memory_overcommit");
              });
      AdmissionQueue.Ticket ticket = queue.enqueue(provider, asked, clock.instant().plus(patience));
      if (ticket.state() != AdmissionQueue.State.ADMITTED) {
        await(ticket, patience);
      }
      return new Reservation(this, ticket);
    } finally {
      lock.unlock();
    }
  }

  /** Counts a sandbox that exists already, as after a restart; there may be no room for it. */
  public Reservation adopt(String provider, Resources held) {
    lock.lock();
    try {
      return new Reservation(this, queue.adopt(provider, held));
    } finally {
      lock.unlock();
    }
  }

  /** Counts a promise for another provider. */
  void move(Reservation grant, String provider) {
    lock.lock();
    try {
      queue.move(grant.ticket(), provider);
    } finally {
      lock.unlock();
    }
  }

  /** Returns what is promised to the sandboxes of a provider. */
  Resources reserved(String provider) {
    lock.lock();
    try {
      return queue.reserved(provider);
    } finally {
      lock.unlock();
    }
  }

  public Usage usage() {
    lock.lock();
    try {
      Resources free = queue.free();
      return new Usage(
          capacity.resources(),
          queue.reserved(),
          new Resources(Math.min(free.memoryMb(), headroom.maxMemoryLimitMb()), free.milliCpu()),
          queue.waiting());
    } finally {
      lock.unlock();
    }
  }

  void markStarted(AdmissionQueue.Ticket ticket) {
    lock.lock();
    try {
      queue.markStarted(ticket);
      signal(queue.admitWaiting());
    } finally {
      lock.unlock();
    }
  }

  void release(AdmissionQueue.Ticket ticket) {
    lock.lock();
    try {
      releaseLocked(ticket);
    } finally {
      lock.unlock();
    }
  }

  /** Returns when the ticket holds. Called with the lock, which waiting lets go. */
  private void await(AdmissionQueue.Ticket ticket, Duration patience) {
    Condition turn = lock.newCondition();
    conditions.put(ticket, turn);
    try {
      while (ticket.state() == AdmissionQueue.State.WAITING) {
        long left = nanosUntil(ticket.deadline, patience);
        if (left <= 0) {
          SandboxException refusal = noCapacity(ticket.requested, patience);
          releaseLocked(ticket);
          throw refusal;
        }
        long _ = turn.awaitNanos(Math.min(left, RECHECK_NANOS));
        signal(queue.admitWaiting());
      }
    } catch (InterruptedException e) {
      releaseLocked(ticket);
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while waiting for room", "ask again")
          .exception(e);
    } finally {
      conditions.remove(ticket);
    }
  }

  private long nanosUntil(Instant deadline, Duration patience) {
    Duration left = Duration.between(clock.instant(), deadline);
    // A clock that is set back must not make anybody wait longer than was said.
    return Math.min(
        left.compareTo(patience) > 0 ? patience.toNanos() : left.toNanos(),
        TimeUnit.DAYS.toNanos(1));
  }

  private void releaseLocked(AdmissionQueue.Ticket ticket) {
    signal(queue.release(ticket));
  }

  private void signal(List<AdmissionQueue.Ticket> served) {
    for (AdmissionQueue.Ticket next : served) {
      Condition turn = conditions.get(next);
      if (turn != null) {
        turn.signal();
      }
    }
  }

  private SandboxException neverFits(Resources asked) {
    Resources most = capacity.resources();
    boolean memory = asked.memoryMb() > most.memoryMb();
    return refusal(
        new Shortage(
            memory ? "memory" : "cpu",
            memory ? asked.memoryMb() + "" : asked.cpu(),
            memory ? most.memoryMb() + "" : most.cpu(),
            ""),
        "the sandbox asks for " + asked + ", and " + capacity.owner() + " has " + most + " for all",
        "ask for less, or raise " + capacity.memoryKey() + " and " + capacity.cpuKey());
  }

  /** Called before the ticket leaves the line. */
  private SandboxException noCapacity(Resources asked, Duration patience) {
    Shortage shortage =
        queue
            .shortage(asked)
            .orElseGet(
                () ->
                    new Shortage(
                        "queue",
                        "",
                        "",
                        "requests that came before and need more wait for room, "
                            + queue.waiting()
                            + " with this one"));
    String waited =
        patience.isZero() ? "" : "; the request waited " + patience.toSeconds() + " s for that";
    return refusal(
        shortage,
        "there is no room: " + shortage.message() + waited,
        "destroy a sandbox, ask for less, try later, or raise "
            + (shortage.resource().equals("cpu")
                ? capacity.cpuKey()
                : capacity.memoryRemedyKeys()));
  }

  private SandboxException refusal(Shortage shortage, String what, String remedy) {
    return Fault.of(ErrorCode.RESOURCE_LIMIT, what, remedy)
        .with("resource", shortage.resource())
        .with("limit", shortage.free())
        .with("actual", shortage.needed())
        .with("free", shortage.free())
        .with("waiting", Integer.toString(queue.waiting()))
        .exception();
  }
}
