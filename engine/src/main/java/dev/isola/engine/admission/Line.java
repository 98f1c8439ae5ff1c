package dev.isola.engine.admission;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
    private State state = State.WAITING;
    private boolean starting;

    private Ticket(Resources asked, Instant deadline) {
      this.asked = asked;
      this.deadline = deadline;
    }

    State state() {
      return state;
    }
  }

  private final Resources capacity;
  private final Headroom headroom;
  private final Deque<Ticket> waiting = new ArrayDeque<>();
  private Resources promised = Resources.NONE;
  private int starting;

  Line(Resources capacity, Headroom headroom) {
    this.capacity = capacity;
    this.headroom = headroom;
  }

  Resources capacity() {
    return capacity;
  }

  Resources promised() {
    return promised;
  }

  Resources free() {
    return capacity.minus(promised);
  }

  int waiting() {
    return waiting.size();
  }

  /** Joins at the end; the ticket holds what it asked for when nobody is before it and it fits. */
  Ticket join(Resources asked, Instant deadline) {
    Ticket ticket = new Ticket(asked, deadline);
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
                  + capacity.memoryMb()
                  + " MB that may be promised (admission.memory_mb) are free"));
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
                  + capacity.cpu()
                  + " cpu that may be promised (admission.cpu) are free"));
    }
    return headroom.now(asked, starting);
  }

  /** Counts something that exists already, whether there is room for it or not. */
  Ticket adopt(Resources held) {
    Ticket ticket = new Ticket(held, Instant.MAX);
    hold(ticket);
    return ticket;
  }

  /** Gives back or gives up; returns those whose turn has come. The second time does nothing. */
  List<Ticket> leave(Ticket ticket) {
    switch (ticket.state) {
      case WAITING -> waiting.remove(ticket);
      case HOLDING -> {
        started(ticket);
        promised = promised.minus(ticket.asked);
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

  private void hold(Ticket ticket) {
    ticket.state = State.HOLDING;
    promised = promised.plus(ticket.asked);
  }
}
