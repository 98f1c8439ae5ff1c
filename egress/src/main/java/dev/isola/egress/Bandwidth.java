package dev.isola.egress;

import dev.isola.spi.capability.EgressAccess.RelayedConnection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The bandwidth of one sandbox, in each direction. Connections wait for it: what is not read from
 * one side makes that side wait. While there are connections that the server carries and others
 * that a relay process carries, each kind has one half.
 */
final class Bandwidth {
  /** The way of bytes, as seen from the sandbox. */
  enum Direction {
    SENT,
    RECEIVED
  }

  /** A pause is at least this long, so that slow limits do not cost many wake-ups. */
  private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

  /** How much of a second's bytes may be passed on at once after a pause. */
  private static final double BURST = 0.05;

  private final long bytesPerSecond;
  private final ReentrantLock lock = new ReentrantLock();
  private final TokenBucket sent = new TokenBucket();
  private final TokenBucket received = new TokenBucket();
  private final Set<RelayedConnection> relayed = new HashSet<>();
  private int carried;

  Bandwidth(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Counts a connection that the server carries until {@link #endCarry}. */
  void carry() {
    lock.lock();
    try {
      carried++;
      divide();
    } finally {
      lock.unlock();
    }
  }

  void endCarry() {
    lock.lock();
    try {
      carried--;
      divide();
    } finally {
      lock.unlock();
    }
  }

  /** Limits a connection that a relay process carries until {@link #endRelay}. */
  void relay(RelayedConnection connection) {
    lock.lock();
    try {
      relayed.add(connection);
      divide();
    } finally {
      lock.unlock();
    }
  }

  void endRelay(RelayedConnection connection) {
    lock.lock();
    try {
      relayed.remove(connection);
    } finally {
      lock.unlock();
    }
  }

  private void divide() {
    long share = carried > 0 ? half() : bytesPerSecond;
    relayed.forEach(connection -> connection.limit(share));
  }

  private long half() {
    return Math.max(1, bytesPerSecond / 2);
  }

  /** Waits until bytes of a connection that the server carries are within the limit. */
  void spend(Direction direction, int count) throws InterruptedException {
    long pause;
    lock.lock();
    try {
      double rate = (double) (relayed.isEmpty() ? bytesPerSecond : half());
      pause =
          switch (direction) {
            case SENT -> sent.take(count, rate, rate * BURST);
            case RECEIVED -> received.take(count, rate, rate * BURST);
          };
    } finally {
      lock.unlock();
    }
    if (pause > 0) {
      TimeUnit.NANOSECONDS.sleep(Math.max(pause, MIN_PAUSE));
    }
  }
}
