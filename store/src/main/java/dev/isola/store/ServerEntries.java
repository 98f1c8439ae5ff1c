package dev.isola.store;

import java.time.Duration;
import java.util.List;

/**
 * The servers that share the ledger. A server owns sandboxes while its lease is valid; the clock of
 * the database decides, so that the clocks of the servers may differ.
 */
public interface ServerEntries {

  /** Records a server with a new lease. A process that used the name before loses it. */
  void register(String name, String incarnation, String url, String version, Duration lease);

  /**
   * Renews a lease. Waits for a take-over of the server's sandboxes that is in progress, so that a
   * server that learns of {@link LeaseRenewal#LAPSED} then sees which sandboxes it has lost.
   *
   * @param reserved what the server has reserved, for the others
   */
  LeaseRenewal renew(String name, String incarnation, Duration lease, String reserved);

  /** Ends a lease, so that other servers take over at once. */
  void release(String name, String incarnation);

  /** Returns all servers by name. */
  List<ServerEntry> all();

  /**
   * Removes the servers whose lease ended more than {@code age} ago and that own no sandbox.
   *
   * @return the number of removed servers
   */
  int forget(Duration age);

  /**
   * Claims a recurring task for {@code interval}.
   *
   * @return whether the caller carries it out; false if another server has claimed it already
   */
  boolean claimTask(String name, Duration interval);
}
