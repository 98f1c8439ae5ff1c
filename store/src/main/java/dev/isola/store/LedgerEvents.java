package dev.isola.store;

import java.time.Instant;
import java.util.List;

/**
 * The event log, numbered from 1 without gaps. Events become visible in the order of their numbers,
 * so a reader that has read up to N asks for the events after N and misses none. The events of one
 * sandbox have the order in which they were appended.
 */
public interface LedgerEvents {

  /**
   * Appends an event. Within {@link Ledger#atomically} it commits or rolls back with the rest of
   * the transaction.
   */
  void append(NewEvent event);

  /** Returns up to {@code limit} events with a number greater than {@code number}, in order. */
  List<LedgerEvent> after(long number, int limit);

  /**
   * Returns the number of the last event, or 0 if there has been none. Purging does not change it.
   */
  long last();

  /**
   * Deletes the events that are older than {@code before}. A reader that had not yet read them sees
   * a gap at its start.
   *
   * @return the number of deleted events
   */
  int purge(Instant before);
}
