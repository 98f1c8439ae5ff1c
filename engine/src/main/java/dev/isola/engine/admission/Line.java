package dev.isola.engine.admission;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

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

    private Ticket(Resources asked, Instant deadline) {
      this.asked = asked;
      this.deadline = deadline;
    }

    State state() {
      return state;
    }
  }

  private final Resources capacity;
  private final Deque<Ticket> waiting = new ArrayDeque<>();
  private Resources promised = Resources.NONE;

  Line(Resources capacity) {
    this.capacity = capacity;
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
      case HOLDING -> promised = promised.minus(ticket.asked);
      case GONE -> {
        return List.of();
      }
    }
    ticket.state = State.GONE;
    return serve();
  }

  private List<Ticket> serve() {
    List<Ticket> served = new ArrayList<>();
    while (!waiting.isEmpty() && waiting.getFirst().asked.fitsIn(free())) {
      Ticket ticket = waiting.removeFirst();
      hold(ticket);
      served.add(ticket);
    }
    return served;
  }

  private void hold(Ticket ticket) {
    ticket.state = State.HOLDING;
    promised = promised.plus(ticket.asked);
  }
}
