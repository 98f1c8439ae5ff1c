package dev.isola.server.limit;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of the server, and which of them must be closed to keep {@link
 * ConnectionLimits}. A new connection always finds room as long as there is one without a
 * credential, or an idle one. Of those without a credential, the one that is idle for the longest
 * time is closed, if that is longer than a client needs to send the head of a request; otherwise
 * the one on which nothing has begun or ended for the longest time. So a new connection has the
 * time in which as many others arrive as there is room for, also while all others are busy with
 * requests.
 *
 * @param <C> a connection, by identity
 */
public final class ConnectionTable<C> {
  /** A connection that is idle for longer is closed before one with a request. */
  private static final Duration HEAD_TIME = Duration.ofSeconds(1);

  private static final class Entry {
    /** What the client is counted by; empty for a trusted proxy. */
    final String network;

    /** What the client of the request in progress is counted by, at a trusted proxy. */
    String client = "";

    boolean authenticated;
    int requests;

    /** When it was opened, or a request on it began or ended. */
    long touchedNanos;

    Entry(String network) {
      this.network = network;
    }

    boolean isOf(String counted) {
      return counted.equals(network) || counted.equals(client);
    }
  }

  private final ConnectionLimits limits;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<C, Entry> all = new HashMap<>();

  /** Those without a credential, the one that is idle for the longest time first. */
  private final Map<C, Entry> strangers = new LinkedHashMap<>();

  /** Those with a credential, in the same order. */
  private final Map<C, Entry> known = new LinkedHashMap<>();

  private final Map<String, Integer> perNetwork = new HashMap<>();

  public ConnectionTable(ConnectionLimits limits) {
    this(limits, System::nanoTime);
  }

  ConnectionTable(ConnectionLimits limits, LongSupplier nanoTime) {
    this.limits = limits;
    this.nanoTime = nanoTime;
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
      boolean tooMany = isFull(network);
      boolean full = strangers.size() >= limits.strangers() || all.size() >= limits.total();
      if (tooMany || full) {
        closed = replaceable(entry -> !tooMany || entry.isOf(network));
        if (closed.isEmpty()) {
          return Optional.of(connection);
        }
        remove(closed.get());
      }
      Entry entry = new Entry(network);
      all.put(connection, entry);
      touch(connection, entry);
      count(network, 1);
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private boolean isFull(String network) {
    return limits.perClient() > 0
        && !network.isEmpty()
        && perNetwork.getOrDefault(network, 0) >= limits.perClient();
  }

  private void count(String network, int change) {
    if (!network.isEmpty()) {
      perNetwork.merge(
          network, change, (before, more) -> before + more == 0 ? null : before + more);
    }
  }

  /** If there are none without a credential, returns an idle one with a credential. */
  private Optional<C> replaceable(Predicate<Entry> which) {
    long late = nanoTime.getAsLong() - HEAD_TIME.toNanos();
    Predicate<Entry> idle = entry -> entry.requests == 0;
    return first(strangers, which.and(idle).and(entry -> entry.touchedNanos - late < 0))
        .or(() -> first(strangers, which))
        .or(() -> first(known, which.and(idle)));
  }

  private static <C> Optional<C> first(Map<C, Entry> entries, Predicate<Entry> which) {
    for (Map.Entry<C, Entry> each : entries.entrySet()) {
      if (which.test(each.getValue())) {
        return Optional.of(each.getKey());
      }
    }
    return Optional.empty();
  }

  /** Removes a connection that has ended. Does nothing if it is not in the table. */
  public void remove(C connection) {
    lock.lock();
    try {
      @Nullable Entry entry = all.remove(connection);
      if (entry != null) {
        strangers.remove(connection);
        known.remove(connection);
        count(entry.network, -1);
        count(entry.client, -1);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records that the head of a request has arrived.
   *
   * @param client what the client of the request is counted by, if a trusted proxy passed it on;
   *     empty if it is not known
   * @return the connection that the caller must close, which is not in the table any more: another
   *     one with a request of this client; empty if there is none, or room
   */
  public Optional<C> requestStarted(C connection, String client) {
    lock.lock();
    try {
      @Nullable Entry entry = all.get(connection);
      if (entry == null) {
        return Optional.empty();
      }
      entry.requests++;
      touch(connection, entry);
      if (!entry.network.isEmpty() || !entry.client.isEmpty() || client.isEmpty()) {
        return Optional.empty();
      }
      Optional<C> closed =
          isFull(client) ? first(strangers, other -> other.isOf(client)) : Optional.empty();
      closed.ifPresent(this::remove);
      entry.client = client;
      count(client, 1);
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Records that a request has ended. Of a proxy's next request, the client may be another one. */
  public void requestEnded(C connection) {
    lock.lock();
    try {
      @Nullable Entry entry = all.get(connection);
      if (entry != null) {
        entry.requests--;
        count(entry.client, -1);
        entry.client = "";
        entry.authenticated &= !entry.network.isEmpty();
        touch(connection, entry);
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
        touch(connection, entry);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Makes a connection the last of its kind to be closed. */
  private void touch(C connection, Entry entry) {
    strangers.remove(connection);
    known.remove(connection);
    entry.touchedNanos = nanoTime.getAsLong();
    (entry.authenticated ? known : strangers).put(connection, entry);
  }
}
