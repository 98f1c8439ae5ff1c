package dev.isola.server.limit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * A token bucket per name, initially full. The least recently used bucket is evicted when there are
 * too many, so that made-up names do not consume memory.
 */
final class TokenBuckets {
  private static final int MAX_BUCKETS = 10_000;
  private static final double NANOS = 1e9;

  private static final class Bucket {
    double tokens;
    long at;
  }

  private final double perSecond;
  private final double burst;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Bucket> buckets =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > MAX_BUCKETS;
        }
      };

  TokenBuckets(double perSecond, double burst, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.nanoTime = nanoTime;
  }

  /** Takes a token; returns 0, or the seconds until one is available. */
  double take(String name) {
    return secondsUntilToken(name, 1);
  }

  /** Returns 0 if a token is available, otherwise the seconds until one is. */
  double secondsUntilToken(String name) {
    return secondsUntilToken(name, 0);
  }

  private double secondsUntilToken(String name, int count) {
    lock.lock();
    try {
      long now = nanoTime.getAsLong();
      Bucket bucket = buckets.get(name);
      if (bucket == null) {
        bucket = new Bucket();
        bucket.tokens = burst;
        bucket.at = now;
        buckets.put(name, bucket);
      }
      bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / NANOS * perSecond);
      bucket.at = now;
      if (bucket.tokens < 1) {
        return (1 - bucket.tokens) / perSecond;
      }
      bucket.tokens -= count;
      return 0;
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return buckets.size();
    } finally {
      lock.unlock();
    }
  }
}
