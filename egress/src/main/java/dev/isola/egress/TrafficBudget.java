package dev.isola.egress;

import dev.isola.spi.spec.Egress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** The limits of one sandbox: open connections, new connections, bytes in a second and in all. */
final class TrafficBudget {
  private static final double NANOS = 1e9;
  private static final long MINUTE = 60;

  /** A pause is at least this long, so that slow limits do not cost many wake-ups. */
  private static final long MIN_PAUSE = Duration.ofMillis(1).toNanos();

  private final ReentrantLock lock = new ReentrantLock();
  private Egress.Limits limits;
  private long open;
  private long bytes;
  private double newConnections;
  private final TokenBucket bucket = new TokenBucket();
  private long connectionsAt = System.nanoTime();

  TrafficBudget(Egress.Limits limits) {
    this.limits = limits;
    this.newConnections = (double) limits.connectionsPerMinute().orElse(0);
  }

  void setLimits(Egress.Limits changed) {
    lock.lock();
    try {
      limits = changed;
    } finally {
      lock.unlock();
    }
  }

  /** Counts a new connection, which ends with {@link #closeConnection}. */
  void openConnection() throws Refusal {
    lock.lock();
    try {
      if (limits.connections().isPresent() && open >= limits.connections().getAsLong()) {
        throw Refusal.denied(
            "the sandbox has " + open + " open connections, which is its limit", "");
      }
      if (limits.connectionsPerMinute().isPresent()) {
        long perMinute = limits.connectionsPerMinute().getAsLong();
        long now = System.nanoTime();
        double earned = (now - connectionsAt) / NANOS * perMinute / MINUTE;
        newConnections = Math.min((double) perMinute, newConnections + earned);
        connectionsAt = now;
        if (newConnections < 1) {
          throw Refusal.denied(
              "the sandbox opens more than " + perMinute + " connections in a minute", "");
        }
        newConnections--;
      }
      requireBytes();
      open++;
    } finally {
      lock.unlock();
    }
  }

  void closeConnection() {
    lock.lock();
    try {
      open--;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether nothing limits how many bytes are transferred. */
  boolean isUnlimited() {
    lock.lock();
    try {
      return limits.bytesPerSecond().isEmpty() && limits.bytes().isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Counts bytes that were transferred without asking. */
  void count(long transferred) {
    lock.lock();
    try {
      bytes += transferred;
    } finally {
      lock.unlock();
    }
  }

  /** Counts bytes before they are passed on, and waits as long as the rate requires. */
  void spend(int count) throws Refusal, InterruptedException {
    long pause;
    lock.lock();
    try {
      requireBytes();
      bytes += count;
      pause = pause(count);
    } finally {
      lock.unlock();
    }
    if (pause > 0) {
      TimeUnit.NANOSECONDS.sleep(Math.max(pause, MIN_PAUSE));
    }
  }

  private void requireBytes() throws Refusal {
    if (limits.bytes().isPresent() && bytes >= limits.bytes().getAsLong()) {
      throw Refusal.denied(
          "the sandbox has transferred " + bytes + " bytes, which exhausts its limit", "");
    }
  }

  /** The bucket holds the bytes of one second; an amount that it lacks is paid off by waiting. */
  private long pause(int count) {
    if (limits.bytesPerSecond().isEmpty()) {
      return 0;
    }
    double perSecond = (double) limits.bytesPerSecond().getAsLong();
    return bucket.take(count, perSecond, perSecond);
  }
}
