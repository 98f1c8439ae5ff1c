package dev.isola.store;

/** A real database for tests. */
public interface TestDatabase {

  /** Returns a location where no ledger exists yet. */
  LedgerConfig fresh();

  /** Removes the data at a location that {@link #fresh} returned. */
  void remove(LedgerConfig config);
}
