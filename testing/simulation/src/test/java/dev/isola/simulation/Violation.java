package dev.isola.simulation;

/**
 * An invariant that did not hold.
 *
 * @param at the virtual time in microseconds
 */
record Violation(Kind kind, long at, String detail) {
  enum Kind {
    /** Two servers had the same sandbox with the same fence. */
    DOUBLE_OWNER,
    /** A server changed the record of a sandbox that it does not own. */
    STALE_OWNER_WRITE,
    /** A server took the sandbox of a server whose lease was valid. */
    LIVE_SERVER_ROBBED,
    /** A sandbox existed long after its expiry. */
    IMMORTAL,
    /** A sandbox ended that had neither expired nor failed nor been destroyed by its client. */
    LOST,
    /** A create was acknowledged of which the ledger has no record. */
    UNRECORDED,
    /** A provider had a sandbox for long that the ledger does not know. */
    LEAK,
    /** A sandbox failed without a cause in its record. */
    NO_CAUSE,
    /** A server reserves memory for sandboxes that no longer exist. */
    RESERVATION_LEAK
  }

  @Override
  public String toString() {
    return kind + " at " + at / Timeline.SECOND + " s: " + detail;
  }
}
