package dev.isola.simulation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows of the servers in the database: the incarnation of each and the end of its lease, by the
 * clock of the database. Also the tasks that one server at a time claims.
 */
final class LeaseTable {
  private record Row(int incarnation, long leaseUntil) {}

  private final Timeline timeline;
  private final Map<String, Row> rows = new HashMap<>();
  private final Map<String, Long> tasks = new HashMap<>();

  LeaseTable(Timeline timeline) {
    this.timeline = timeline;
  }

  /** Starts a lease for a new incarnation of a server. */
  boolean register(String server, int incarnation) {
    rows.put(server, new Row(incarnation, timeline.now() + Scenario.LEASE));
    return true;
  }

  /** Extends a lease. Returns whether it was valid until now. */
  boolean renew(String server, int incarnation) {
    Row row = rows.get(server);
    if (row == null || row.incarnation() != incarnation) {
      return false;
    }
    boolean valid = isValid(server);
    rows.put(server, new Row(incarnation, timeline.now() + Scenario.LEASE));
    return valid;
  }

  boolean isValid(String server) {
    Row row = rows.get(server);
    return row != null && row.leaseUntil() > timeline.now();
  }

  /** Returns the servers whose leases have lapsed, in a fixed order. */
  List<String> lapsed() {
    return rows.keySet().stream().filter(name -> !isValid(name)).sorted().toList();
  }

  List<String> all() {
    return rows.keySet().stream().sorted().toList();
  }

  /** Claims a task for an interval. Returns false if another server has it. */
  boolean claim(String task, long interval) {
    if (tasks.getOrDefault(task, 0L) > timeline.now()) {
      return false;
    }
    tasks.put(task, timeline.now() + interval);
    return true;
  }
}
