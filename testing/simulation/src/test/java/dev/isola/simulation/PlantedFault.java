package dev.isola.simulation;

/** A defect added to the model on purpose, to show that an invariant catches it. */
enum PlantedFault {
  NONE,
  /** A server writes to sandboxes without checking whether it still owns them. */
  IGNORES_LEASE,
  /** A sandbox changes its owner without a new fence. */
  TAKEOVER_WITHOUT_FENCE,
  /** Servers take the sandboxes of servers whose leases are valid. */
  TAKEOVER_OF_LIVE_SERVERS,
  /** The sweep skips some sandboxes. */
  SKIPPING_SWEEPER,
  /** Unknown sandboxes are removed by a list that is older than the inventory, with no check. */
  REMOVAL_WITHOUT_CHECK,
  /** Unknown sandboxes are never removed. */
  NO_REMOVAL,
  /** A create is acknowledged before its record is stored. */
  ACKNOWLEDGED_TOO_EARLY
}
