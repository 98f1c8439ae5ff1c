package dev.isola.server.peer;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The nonces of the last requests, in two sets: when the older one is no longer needed, it is
 * dropped as a whole.
 */
final class SeenNonces {
  private final Duration lifetime;
  private final ReentrantLock lock = new ReentrantLock();
  private Set<String> recent = new HashSet<>();
  private Set<String> older = new HashSet<>();
  private Instant rotatedAt = Instant.MIN;

  /**
   * @param lifetime how long a nonce is remembered at least
   */
  SeenNonces(Duration lifetime) {
    this.lifetime = lifetime;
  }

  /** Adds a nonce and returns whether it is new. */
  boolean add(String nonce, Instant now) {
    lock.lock();
    try {
      if (rotatedAt.equals(Instant.MIN)) {
        rotatedAt = now;
      } else if (Duration.between(rotatedAt, now).compareTo(lifetime) > 0) {
        older = recent;
        recent = new HashSet<>();
        rotatedAt = now;
      }
      return !older.contains(nonce) && recent.add(nonce);
    } finally {
      lock.unlock();
    }
  }
}
