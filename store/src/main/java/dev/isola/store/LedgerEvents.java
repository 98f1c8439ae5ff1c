package dev.isola.store;

import java.time.Instant;
import java.util.List;

/**
 * What happened, numbered from 1 without gaps. An event with a smaller number is never seen after
 * one with a larger: who has read up to N asks for what comes after N and misses nothing.
 */
public interface LedgerEvents {

  /**
   * Appends an event. Within {@link Ledger#atomically} it stands or falls with the rest.
   *
   * @return the event with its number
   */
  LedgerEvent append(NewEvent event);

  /** Returns at most {@code limit} events with larger numbers, in order. */
  List<LedgerEvent> after(long number, int limit);

  /** Returns the number of the last event, 0 when there was none; purging does not change it. */
  long last();

  /**
   * Forgets the events of before {@code before}. A reader that was behind sees a gap at its start.
   *
   * @return how many
   */
  int purge(Instant before);
}
