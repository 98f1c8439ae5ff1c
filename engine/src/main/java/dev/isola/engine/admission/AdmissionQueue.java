package dev.isola.engine.admission;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Who holds how much, and who waits. State without threads: {@link CapacityPool} has the lock.
 * Nobody is overtaken: a small one that would fit waits behind a large one, or the large one would
 * wait for ever.
 */
final class AdmissionQueue {
  enum State {
    WAITING,
    ADMITTED,
    RELEASED
  }

  /** A place in the line, and later what it holds. */
  static final class Ticket {
    final Resources requested;
    final Instant deadline;
    private String provider;
    private State state = State.WAITING;
    private boolean starting;

    private Ticket(String provider, Resources asked, Instant deadline) {
      this.provider = provider;
      this.requested = asked;
      this.deadline = deadline;
    }

    State state() {
      return state;
    }
  }

  private final Capacity capacity;
  private final Headroom headroom;
  private final Deque<Ticket> waiting = new ArrayDeque<>();
  private final Map<String, Resources> byProvider = new HashMap<>();
  private Resources reserved = Resources.NONE;
  private int starting;

  AdmissionQueue(Capacity capacity, Headroom headroom) {
    this.capacity = capacity;
    this.headroom = headroom;
  }

  Resources reserved() {
    return reserved;
  }

  /** Returns what is promised to the sandboxes of one provider. */
  Resources reserved(String provider) {
    return byProvider.getOrDefault(provider, Resources.NONE);
  }

  Resources free() {
    return capacity.resources().minus(reserved);
  }

  int waiting() {
    return waiting.size();
  }

  /** Joins at the end; the ticket holds what it asked for when nobody is before it and it fits. */
  Ticket enqueue(String provider, Resources asked, Instant deadline) {
    Ticket ticket = new Ticket(provider, asked, deadline);
    waiting.addLast(ticket);
    admitWaiting();
    return ticket;
  }

  /** Says that a sandbox was made: what it takes from now on is seen on the machine. */
  void markStarted(Ticket ticket) {
    if (ticket.starting) {
      ticket.starting = false;
      starting--;
    }
  }

  /** Returns what a ticket waits for; empty when only those before it are in its way. */
  Optional<Shortage> shortage(Resources asked) {
    Resources free = free();
    if (asked.memoryMb() > free.memoryMb()) {
      return Optional.of(
          new Shortage(
              "memory",
              asked.memoryMb() + "",
              free.memoryMb() + "",
              "the sandbox asks for "
                  + asked.memoryMb()
                  + " MB, and "
                  + free.memoryMb()
                  + " of "
                  + capacity.resources().memoryMb()
                  + " MB that may be promised ("
                  + capacity.memoryKey()
                  + ") are free"));
    }
    if (asked.milliCpu() > free.milliCpu()) {
      return Optional.of(
          new Shortage(
              "cpu",
              asked.cpu(),
              free.cpu(),
              "the sandbox asks for "
                  + asked.cpu()
                  + " cpu, and "
                  + free.cpu()
                  + " of "
                  + capacity.resources().cpu()
                  + " cpu that may be promised ("
                  + capacity.cpuKey()
                  + ") are free"));
    }
    return headroom.currentShortage(asked, starting);
  }

  /** Counts something that exists already, whether there is room for it or not. */
  Ticket adopt(String provider, Resources held) {
    Ticket ticket = new Ticket(provider, held, Instant.MAX);
    admit(ticket);
    return ticket;
  }

  /** Gives back or gives up; returns those whose turn has come. The second time does nothing. */
  List<Ticket> release(Ticket ticket) {
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

  /** Lets in those at the head of the line for whom there is room; returns them. */
  List<Ticket> admitWaiting() {
    List<Ticket> served = new ArrayList<>();
    while (!waiting.isEmpty() && shortage(waiting.getFirst().requested).isEmpty()) {
      Ticket ticket = waiting.removeFirst();
      admit(ticket);
      ticket.starting = true;
      starting++;
      served.add(ticket);
    }
    return served;
  }

  /** Counts what a ticket holds for another provider. */
  void move(Ticket ticket, String provider) {
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
