package dev.isola.store;

/** A real database for tests. */
public interface TestDatabase {

  /** Returns where a ledger can be that is not there yet. */
  LedgerConfig fresh();

  /** Removes what is at a place that {@link #fresh} returned. */
  void remove(LedgerConfig config);
}
