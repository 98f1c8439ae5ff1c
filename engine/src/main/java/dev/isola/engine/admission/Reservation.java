package dev.isola.engine.admission;

import dev.isola.engine.api.Resources;

/** Resources reserved for one sandbox. Closing releases them. */
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

  /** Takes over the resources of another reservation and releases its own. */
  void replaceWith(Reservation other) {
    Slot before = slot;
    slot = other.slot;
    before.admission().release(before.ticket());
  }

  /**
   * Marks the sandbox as created. From then on its usage is visible in the state of the machine.
   */
  public void markStarted() {
    Slot now = slot;
    now.admission().markStarted(now.ticket());
  }

  /** Releases the resources. Repeated calls do nothing. */
  @Override
  public void close() {
    Slot now = slot;
    now.admission().release(now.ticket());
  }
}
