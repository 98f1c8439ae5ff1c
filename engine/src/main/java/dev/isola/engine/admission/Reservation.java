package dev.isola.engine.admission;

/** Memory and processors promised to one sandbox. Closing gives them back, once. */
public final class Reservation implements AutoCloseable {
  private record Slot(CapacityPool admission, AdmissionQueue.Ticket ticket) {}

  private volatile Slot slot;

  Reservation(CapacityPool admission, AdmissionQueue.Ticket ticket) {
    this.slot = new Slot(admission, ticket);
  }

  public Resources resources() {
    return slot.ticket().requested;
  }

  boolean isFrom(CapacityPool admission) {
    return slot.admission().equals(admission);
  }

  AdmissionQueue.Ticket ticket() {
    return slot.ticket();
  }

  /** Takes over what another one holds, and gives back what this one held. */
  void replaceWith(Reservation other) {
    Slot before = slot;
    slot = other.slot;
    before.admission().release(before.ticket());
  }

  /** Says that the sandbox was made: what it uses from now on is seen on the machine. */
  public void markStarted() {
    Slot now = slot;
    now.admission().markStarted(now.ticket());
  }

  /** Gives them back; every further call does nothing. */
  @Override
  public void close() {
    Slot now = slot;
    now.admission().release(now.ticket());
  }
}
