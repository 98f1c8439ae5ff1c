package dev.isola.simulation;

/** What a round trip to the database is for. */
enum Operation {
  CREATE("create"),
  EXEC("exec routing"),
  RENEW("renew"),
  DESTROY("destroy"),
  SWEEP("sweep for due sandboxes"),
  EXPIRY("expiry of a sandbox"),
  HEARTBEAT("renewal of a lease"),
  RECOVERY("search for sandboxes of lost servers"),
  RECONCILE("reconciliation of one server"),
  COMPARE("comparison of a shared inventory");

  final String label;

  Operation(String label) {
    this.label = label;
  }
}
