package dev.isola.engine.admission;

import dev.isola.engine.api.Resources;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Tracks reservations and the FIFO queue of waiting requests. Not thread-safe; {@link CapacityPool}
 * holds the lock. A small request never overtakes a large one, which would otherwise starve.
 */
public final class AdmissionQueue {
  /** Where a request is. */
  public enum State {
    WAITING,
    ADMITTED,
    RELEASED
  }

  /** A request in the queue, and its reservation once it is admitted. */
  public static final class Ticket {
    final Resources requested;
    final Instant deadline;
    private String provider;
    private State state = State.WAITING;
    private boolean starting;

    private Ticket(String provider, Resources requested, Instant deadline) {
      this.provider = provider;
      this.requested = requested;
      this.deadline = deadline;
    }

    public State state() {
      return state;
    }
  }

  private final Capacity capacity;
  private final Headroom headroom;
  private final Supplier<Resources> elsewhere;
  private final Deque<Ticket> waiting = new ArrayDeque<>();
  private final Map<String, Resources> byProvider = new HashMap<>();
  private Resources reserved = Resources.NONE;
  private int starting;

  /**
   * @param elsewhere what other servers have reserved of the capacity
   */
  public AdmissionQueue(Capacity capacity, Headroom headroom, Supplier<Resources> elsewhere) {
    this.capacity = capacity;
    this.headroom = headroom;
    this.elsewhere = elsewhere;
  }

  public Resources reserved() {
    return reserved;
  }

  /** Returns the resources reserved for the sandboxes of one provider. */
  public Resources reserved(String provider) {
    return byProvider.getOrDefault(provider, Resources.NONE);
  }

  Resources free() {
    return capacity.resources().minus(reserved).minus(elsewhere.get());
  }

  public int waiting() {
    return waiting.size();
  }

  /**
   * Adds a request to the queue. The ticket is admitted immediately if the queue is empty and the
   * request fits.
   */
  public Ticket enqueue(String provider, Resources requested, Instant deadline) {
    Ticket ticket = new Ticket(provider, requested, deadline);
    waiting.addLast(ticket);
    admitWaiting();
    return ticket;
  }

  /**
   * Marks the sandbox as created. From then on its usage is visible in the state of the machine.
   */
  public void markStarted(Ticket ticket) {
    if (ticket.starting) {
      ticket.starting = false;
      starting--;
    }
  }

  /** Returns the shortage that a request waits for; empty if only earlier requests block it. */
  Optional<Shortage> shortage(Resources requested) {
    Resources free = free();
    if (requested.memoryMb() > free.memoryMb()) {
      return Optional.of(
          new Shortage(
              "memory",
              requested.memoryMb() + "",
              free.memoryMb() + "",
              "the sandbox requests "
                  + requested.memoryMb()
                  + " MB of memory, and "
                  + free.memoryMb()
                  + " of "
                  + capacity.resources().memoryMb()
                  + " MB ("
                  + capacity.memoryKey()
                  + ") are free"));
    }
    if (requested.milliCpu() > free.milliCpu()) {
      return Optional.of(
          new Shortage(
              "cpu",
              requested.cpu(),
              free.cpu(),
              "the sandbox requests "
                  + requested.cpu()
                  + " cpu, and "
                  + free.cpu()
                  + " of "
                  + capacity.resources().cpu()
                  + " cpu ("
                  + capacity.cpuKey()
                  + ") are free"));
    }
    return headroom.currentShortage(requested, starting);
  }

  /** Reserves resources for a sandbox that already exists, even beyond the capacity. */
  public Ticket adopt(String provider, Resources held) {
    Ticket ticket = new Ticket(provider, held, Instant.MAX);
    admit(ticket);
    return ticket;
  }

  /**
   * Releases a reservation or removes a waiting ticket. Returns the tickets that this admits; a
   * repeated call does nothing.
   */
  public List<Ticket> release(Ticket ticket) {
    switch (ticket.state) {
      case WAITING -> waiting.remove(ticket);
      case ADMITTED -> {
        markStarted(ticket);
        unreserve(ticket);
      }
      case RELEASED -> {
        return List.of();
      }
    }
    ticket.state = State.RELEASED;
    return admitWaiting();
  }

  /** Admits requests from the head of the queue while they fit, and returns them. */
  List<Ticket> admitWaiting() {
    List<Ticket> admitted = new ArrayList<>();
    while (!waiting.isEmpty() && shortage(waiting.getFirst().requested).isEmpty()) {
      Ticket ticket = waiting.removeFirst();
      admit(ticket);
      ticket.starting = true;
      starting++;
      admitted.add(ticket);
    }
    return admitted;
  }

  /** Moves the reservation of a ticket to another provider. */
  public void move(Ticket ticket, String provider) {
    if (ticket.state == State.ADMITTED) {
      unreserve(ticket);
      ticket.provider = provider;
      reserve(ticket);
    }
  }

  private void admit(Ticket ticket) {
    ticket.state = State.ADMITTED;
    reserve(ticket);
  }

  private void reserve(Ticket ticket) {
    reserved = reserved.plus(ticket.requested);
    byProvider.merge(ticket.provider, ticket.requested, Resources::plus);
  }

  private void unreserve(Ticket ticket) {
    reserved = reserved.minus(ticket.requested);
    Resources left = reserved(ticket.provider).minus(ticket.requested);
    if (left.equals(Resources.NONE)) {
      byProvider.remove(ticket.provider);
    } else {
      byProvider.put(ticket.provider, left);
    }
  }
}
