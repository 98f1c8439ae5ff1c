package dev.isola.simulation;

/** What a round trip to the database is for. */
enum Operation {
  CREATE("create"),
  EXEC("exec routing"),
  RENEW("renew"),
  DESTROY("destroy"),
  SWEEP("sweep for due sandboxes"),
  EXPIRY("expiry of a sandbox"),
  TAKEOVER("takeover of a sandbox"),
  HEARTBEAT("heartbeat"),
  RECONCILE("reconciliation of one server"),
  UNKNOWN("search for unknown sandboxes");

  final String label;

  Operation(String label) {
    this.label = label;
  }
}
