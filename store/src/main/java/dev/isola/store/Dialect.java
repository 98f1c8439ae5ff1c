package dev.isola.store;

/** The little in which the two databases differ in our statements. */
enum Dialect {
  SQLITE(""),
  POSTGRESQL(" for update skip locked");

  private final String skipLocked;

  Dialect(String skipLocked) {
    this.skipLocked = skipLocked;
  }

  /**
   * Returns what to append to a select of one free row, so that it takes one nobody else is taking.
   * SQLite has one writer and needs nothing.
   */
  String skipLocked() {
    return skipLocked;
  }
}
