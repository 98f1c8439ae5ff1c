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
 * Who holds how much, and who waits. State without threads: {@link Admission} has the lock. Nobody
 * is overtaken: a small one that would fit waits behind a large one, or the large one would wait
 * for ever.
 */
final class Line {
  enum State {
    WAITING,
    HOLDING,
    GONE
  }

  /** A place in the line, and later what it holds. */
  static final class Ticket {
    final Resources asked;
    final Instant deadline;
    private String provider;
    private State state = State.WAITING;
    private boolean starting;

    private Ticket(String provider, Resources asked, Instant deadline) {
      this.provider = provider;
      this.asked = asked;
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
  private Resources promised = Resources.NONE;
  private int starting;

  Line(Capacity capacity, Headroom headroom) {
    this.capacity = capacity;
    this.headroom = headroom;
  }

  Resources promised() {
    return promised;
  }

  /** Returns what is promised to the sandboxes of one provider. */
  Resources promised(String provider) {
    return byProvider.getOrDefault(provider, Resources.NONE);
  }

  Resources free() {
    return capacity.resources().minus(promised);
  }

  int waiting() {
    return waiting.size();
  }

  /** Joins at the end; the ticket holds what it asked for when nobody is before it and it fits. */
  Ticket join(String provider, Resources asked, Instant deadline) {
    Ticket ticket = new Ticket(provider, asked, deadline);
    waiting.addLast(ticket);
    serve();
    return ticket;
  }

  /** Says that a sandbox was made: what it takes from now on is seen on the machine. */
  void started(Ticket ticket) {
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
    return headroom.now(asked, starting);
  }

  /** Counts something that exists already, whether there is room for it or not. */
  Ticket adopt(String provider, Resources held) {
    Ticket ticket = new Ticket(provider, held, Instant.MAX);
    hold(ticket);
    return ticket;
  }

  /** Gives back or gives up; returns those whose turn has come. The second time does nothing. */
  List<Ticket> leave(Ticket ticket) {
    switch (ticket.state) {
      case WAITING -> waiting.remove(ticket);
      case HOLDING -> {
        started(ticket);
        give(ticket);
      }
      case GONE -> {
        return List.of();
      }
    }
    ticket.state = State.GONE;
    return serve();
  }

  /** Lets in those at the head of the line for whom there is room; returns them. */
  List<Ticket> serve() {
    List<Ticket> served = new ArrayList<>();
    while (!waiting.isEmpty() && shortage(waiting.getFirst().asked).isEmpty()) {
      Ticket ticket = waiting.removeFirst();
      hold(ticket);
      ticket.starting = true;
      starting++;
      served.add(ticket);
    }
    return served;
  }

  /** Counts what a ticket holds for another provider. */
  void move(Ticket ticket, String provider) {
    if (ticket.state == State.HOLDING) {
      give(ticket);
      ticket.provider = provider;
      take(ticket);
    }
  }

  private void hold(Ticket ticket) {
    ticket.state = State.HOLDING;
    take(ticket);
  }

  private void take(Ticket ticket) {
    promised = promised.plus(ticket.asked);
    byProvider.merge(ticket.provider, ticket.asked, Resources::plus);
  }

  private void give(Ticket ticket) {
    promised = promised.minus(ticket.asked);
    Resources left = promised(ticket.provider).minus(ticket.asked);
    if (left.equals(Resources.NONE)) {
      byProvider.remove(ticket.provider);
    } else {
      byProvider.put(ticket.provider, left);
    }
  }
}
