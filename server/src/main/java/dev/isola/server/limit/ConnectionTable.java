package dev.isola.server.limit;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of the server, and which of them must be closed to keep {@link
 * ConnectionLimits}. A new connection always finds room as long as there is one without a
 * credential: of those, the one that has waited longest for a request is closed. The fuller the
 * server, the shorter the time in which a client must send the head of a request.
 *
 * @param <C> a connection, by identity
 */
public final class ConnectionTable<C> {
  private static final class Entry {
    final String network;
    boolean authenticated;
    int requests;

    Entry(String network) {
      this.network = network;
    }
  }

  private final ConnectionLimits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<C, Entry> all = new HashMap<>();

  /** Those without a credential, the one that is idle for the longest time first. */
  private final Map<C, Entry> strangers = new LinkedHashMap<>();

  private final Map<String, Integer> perNetwork = new HashMap<>();

  public ConnectionTable(ConnectionLimits limits) {
    this.limits = limits;
  }

  /**
   * Adds a connection.
   *
   * @param network what the client is counted by; empty for a trusted proxy
   * @return the connection that the caller must close, which is not in the table any more: another
   *     one, or the new one; empty if there is room
   */
  public Optional<C> add(C connection, String network) {
    lock.lock();
    try {
      Optional<C> closed = Optional.empty();
      boolean tooMany =
          limits.perClient() > 0
              && !network.isEmpty()
              && perNetwork.getOrDefault(network, 0) >= limits.perClient();
      boolean full = strangers.size() >= limits.strangers() || all.size() >= limits.total();
      if (tooMany || full) {
        closed = oldestStranger(entry -> !tooMany || entry.network.equals(network));
        if (closed.isEmpty()) {
          return Optional.of(connection);
        }
        remove(closed.get());
      }
      Entry entry = new Entry(network);
      all.put(connection, entry);
      strangers.put(connection, entry);
      perNetwork.merge(network, 1, Integer::sum);
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the one that waits for a request for the longest time; if all have one, the oldest. */
  private Optional<C> oldestStranger(Predicate<Entry> which) {
    Optional<C> oldest = Optional.empty();
    for (Map.Entry<C, Entry> each : strangers.entrySet()) {
      if (which.test(each.getValue())) {
        if (each.getValue().requests == 0) {
          return Optional.of(each.getKey());
        }
        oldest = oldest.or(() -> Optional.of(each.getKey()));
      }
    }
    return oldest;
  }

  /** Removes a connection that has ended. Does nothing if it is not in the table. */
  public void remove(C connection) {
    lock.lock();
    try {
      @Nullable Entry entry = all.remove(connection);
      if (entry != null) {
        strangers.remove(connection);
        perNetwork.computeIfPresent(entry.network, (any, count) -> count == 1 ? null : count - 1);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Records that the head of a request has arrived. */
  public void requestStarted(C connection) {
    count(connection, 1);
  }

  /** Records that a request has ended. */
  public void requestEnded(C connection) {
    count(connection, -1);
  }

  private void count(C connection, int change) {
    lock.lock();
    try {
      @Nullable Entry entry = all.get(connection);
      if (entry != null) {
        entry.requests += change;
        if (!entry.authenticated) {
          strangers.remove(connection);
          strangers.put(connection, entry); // it is the last to be closed
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Records that a request on a connection had a valid credential. */
  public void authenticated(C connection) {
    lock.lock();
    try {
      @Nullable Entry entry = all.get(connection);
      if (entry != null && !entry.authenticated) {
        entry.authenticated = true;
        strangers.remove(connection);
      }
    } finally {
      lock.unlock();
    }
  }
}
