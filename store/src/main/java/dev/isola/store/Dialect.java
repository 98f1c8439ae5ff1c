package dev.isola.store;

/** The SQL that differs between the two databases. */
enum Dialect {
  SQLITE("", "", "cast(unixepoch('subsec') * 1000000 as integer)"),
  POSTGRESQL(
      " for update skip locked",
      " for share",
      "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)");

  private final String skipLocked;
  private final String forShare;
  private final String now;

  Dialect(String skipLocked, String forShare, String now) {
    this.skipLocked = skipLocked;
    this.forShare = forShare;
    this.now = now;
  }

  /**
   * Returns the clause to append to a select of one free row, so that concurrent transactions take
   * different rows. Empty for SQLite, which has a single writer.
   */
  String skipLocked() {
    return skipLocked;
  }

  /**
   * Returns the clause to append to a select whose rows must not change until the transaction ends.
   */
  String forShare() {
    return forShare;
  }

  /** Returns the time of the database in microseconds since the epoch. */
  String now() {
    return now;
  }
}
