package dev.isola.engine.admission;

/** Memory and processors promised to one sandbox. Closing gives them back, once. */
public final class Grant implements AutoCloseable {
  private final Admission admission;
  private final Line.Ticket ticket;

  Grant(Admission admission, Line.Ticket ticket) {
    this.admission = admission;
    this.ticket = ticket;
  }

  public Resources resources() {
    return ticket.asked;
  }

  /** Says that the sandbox was made: what it uses from now on is seen on the machine. */
  public void started() {
    admission.started(ticket);
  }

  /** Gives them back; every further call does nothing. */
  @Override
  public void close() {
    admission.release(ticket);
  }
}
