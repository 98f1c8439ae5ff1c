package dev.isola.engine.admission;

/** Memory and processors promised to one sandbox. Closing gives them back, once. */
public final class Grant implements AutoCloseable {
  private record Held(Admission admission, Line.Ticket ticket) {}

  private volatile Held held;

  Grant(Admission admission, Line.Ticket ticket) {
    this.held = new Held(admission, ticket);
  }

  public Resources resources() {
    return held.ticket().asked;
  }

  boolean isOf(Admission admission) {
    return held.admission().equals(admission);
  }

  Line.Ticket ticket() {
    return held.ticket();
  }

  /** Takes over what another one holds, and gives back what this one held. */
  void replaceBy(Grant other) {
    Held before = held;
    held = other.held;
    before.admission().release(before.ticket());
  }

  /** Says that the sandbox was made: what it uses from now on is seen on the machine. */
  public void started() {
    Held now = held;
    now.admission().started(now.ticket());
  }

  /** Gives them back; every further call does nothing. */
  @Override
  public void close() {
    Held now = held;
    now.admission().release(now.ticket());
  }
}
