package dev.isola.engine.admission;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.Resources;
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
import java.util.function.Supplier;

/**
 * Admits sandboxes while capacity is available. Resource limits are ceilings: their sum is bounded
 * only if the operator configures a bound; otherwise the state of the machine decides (see {@link
 * Headroom}). A request that does not fit waits in a FIFO queue.
 */
public final class CapacityPool {
  private final ReentrantLock lock = new ReentrantLock();

  /** How often a waiting request checks the machine, whose state changes without a signal. */
  private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Map<AdmissionQueue.Ticket, Condition> conditions = new HashMap<>();
  private final Capacity capacity;
  private final AdmissionQueue queue;
  private final Headroom headroom;
  private final Duration queueTimeout;
  private final InstantSource clock;

  /**
   * @param capacity the total resources that can be reserved
   * @param queueTimeout how long a request waits in the queue; zero to fail immediately
   */
  public CapacityPool(
      Capacity capacity, Headroom headroom, Duration queueTimeout, InstantSource clock) {
    this(capacity, headroom, () -> Resources.NONE, queueTimeout, clock);
  }

  /**
   * @param capacity the total resources that can be reserved
   * @param elsewhere what other servers have reserved of them
   * @param queueTimeout how long a request waits in the queue; zero to fail immediately
   */
  public CapacityPool(
      Capacity capacity,
      Headroom headroom,
      Supplier<Resources> elsewhere,
      Duration queueTimeout,
      InstantSource clock) {
    this.capacity = capacity;
    this.queue = new AdmissionQueue(capacity, headroom, elsewhere);
    this.headroom = headroom;
    this.queueTimeout = queueTimeout;
    this.clock = clock;
  }

  /**
   * Creates a pool that admits by resource limits alone, regardless of the state of the machine.
   */
  public CapacityPool(Resources capacity, Duration queueTimeout, InstantSource clock) {
    this(Capacity.ofInstallation(capacity), Headroom.UNCHECKED, queueTimeout, clock);
  }

  /**
   * Reserves resources, waiting in the queue until they are free.
   *
   * @param provider the provider that runs the sandbox
   * @throws dev.isola.spi.error.LimitExceeded immediately if the request can never fit, or after
   *     the queue timeout if the resources did not become free
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} if interrupted
   */
  public Reservation admit(String provider, Resources requested) {
    return admit(provider, requested, queueTimeout);
  }

  /**
   * Reserves resources if they are free and no other request is waiting.
   *
   * @throws dev.isola.spi.error.LimitExceeded otherwise, without waiting
   */
  public Reservation admitNow(String provider, Resources requested) {
    return admit(provider, requested, Duration.ZERO);
  }

  /** Returns whether the request fits into the empty pool. */
  boolean canEverFit(Resources requested) {
    return requested.fitsIn(capacity.resources())
        && headroom.permanentShortage(requested).isEmpty();
  }

  private Reservation admit(String provider, Resources requested, Duration queueTimeout) {
    lock.lock();
    try {
      if (!requested.fitsIn(capacity.resources())) {
        throw neverFits(requested);
      }
      headroom
          .permanentShortage(requested)
          .ifPresent(
              shortage -> {
                throw refusal(
                    shortage,
                    shortage.message() + " in total",
                    "request less memory, or raise admission.memory_overcommit");
              });
      AdmissionQueue.Ticket ticket =
          queue.enqueue(provider, requested, clock.instant().plus(queueTimeout));
      if (ticket.state() != AdmissionQueue.State.ADMITTED) {
        await(ticket, queueTimeout);
      }
      return new Reservation(this, ticket);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Reserves resources for a sandbox that already exists, for example after a restart, even beyond
   * the capacity.
   */
  public Reservation adopt(String provider, Resources held) {
    lock.lock();
    try {
      return new Reservation(this, queue.adopt(provider, held));
    } finally {
      lock.unlock();
    }
  }

  /** Moves a reservation to another provider of this pool. */
  void move(Reservation reservation, String provider) {
    lock.lock();
    try {
      queue.move(reservation.ticket(), provider);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the resources reserved for the sandboxes of a provider. */
  Resources reserved(String provider) {
    lock.lock();
    try {
      return queue.reserved(provider);
    } finally {
      lock.unlock();
    }
  }

  public CapacityUsage usage() {
    lock.lock();
    try {
      Resources free = queue.free();
      return new CapacityUsage(
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

  /** Waits until the ticket is admitted. The caller holds the lock, which waiting releases. */
  private void await(AdmissionQueue.Ticket ticket, Duration queueTimeout) {
    Condition condition = lock.newCondition();
    conditions.put(ticket, condition);
    try {
      while (ticket.state() == AdmissionQueue.State.WAITING) {
        long left = nanosUntil(ticket.deadline, queueTimeout);
        if (left <= 0) {
          SandboxException refusal = noCapacity(ticket.requested, queueTimeout);
          releaseLocked(ticket);
          throw refusal;
        }
        long _ = condition.awaitNanos(Math.min(left, RECHECK_NANOS));
        signal(queue.admitWaiting());
      }
    } catch (InterruptedException e) {
      releaseLocked(ticket);
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED, "interrupted while waiting for capacity", "retry the request")
          .exception(e);
    } finally {
      conditions.remove(ticket);
    }
  }

  private long nanosUntil(Instant deadline, Duration queueTimeout) {
    Duration left = Duration.between(clock.instant(), deadline);
    // A clock that is set back must not extend the wait beyond the timeout.
    return Math.min(
        left.compareTo(queueTimeout) > 0 ? queueTimeout.toNanos() : left.toNanos(),
        TimeUnit.DAYS.toNanos(1));
  }

  private void releaseLocked(AdmissionQueue.Ticket ticket) {
    signal(queue.release(ticket));
  }

  private void signal(List<AdmissionQueue.Ticket> admitted) {
    for (AdmissionQueue.Ticket next : admitted) {
      Condition condition = conditions.get(next);
      if (condition != null) {
        condition.signal();
      }
    }
  }

  private SandboxException neverFits(Resources requested) {
    Resources total = capacity.resources();
    boolean memory = requested.memoryMb() > total.memoryMb();
    return refusal(
        new Shortage(
            memory ? "memory" : "cpu",
            memory ? requested.memoryMb() + "" : requested.cpu(),
            memory ? total.memoryMb() + "" : total.cpu(),
            ""),
        "the sandbox requests "
            + requested
            + ", and "
            + capacity.owner()
            + " has "
            + total
            + " in total",
        "request less, or raise " + capacity.memoryKey() + " and " + capacity.cpuKey());
  }

  /** Call this before the ticket is removed from the queue, because it reads the queue. */
  private SandboxException noCapacity(Resources requested, Duration queueTimeout) {
    Shortage shortage =
        queue
            .shortage(requested)
            .orElseGet(
                () ->
                    new Shortage(
                        "queue",
                        "",
                        "",
                        "earlier requests that need more are waiting for capacity; the queue has "
                            + queue.waiting()
                            + " requests including this one"));
    String waited =
        queueTimeout.isZero() ? "" : "; the request waited " + queueTimeout.toSeconds() + " s";
    return refusal(
        shortage,
        "no capacity: " + shortage.message() + waited,
        switch (shortage.resource()) {
          case DiskHeadroom.RESOURCE ->
              "destroy sandboxes, remove snapshots or images or otherwise free disk space, which"
                  + " takes effect without a restart, or request a smaller disk";
          case "cpu" -> retryOrRaise(capacity.cpuKey());
          default -> retryOrRaise(capacity.memoryRemedyKeys());
        });
  }

  private static String retryOrRaise(String keys) {
    return "destroy a sandbox, request less, retry later, or raise " + keys;
  }

  private SandboxException refusal(Shortage shortage, String what, String remedy) {
    return Fault.of(
            shortage.resource().equals(DiskHeadroom.RESOURCE)
                ? ErrorCode.DISK_FULL
                : ErrorCode.RESOURCE_LIMIT,
            what,
            remedy)
        .with("resource", shortage.resource())
        .with("limit", shortage.free())
        .with("actual", shortage.needed())
        .with("free", shortage.free())
        .with("waiting", Integer.toString(queue.waiting()))
        .exception();
  }
}
