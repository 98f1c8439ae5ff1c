package dev.isola.store;

/** The SQL that differs between the two databases. */
enum Dialect {
  SQLITE(""),
  POSTGRESQL(" for update skip locked");

  private final String skipLocked;

  Dialect(String skipLocked) {
    this.skipLocked = skipLocked;
  }

  /**
   * Returns the clause to append to a select of one free row, so that concurrent transactions take
   * different rows. Empty for SQLite, which has a single writer.
   */
  String skipLocked() {
    return skipLocked;
  }
}
