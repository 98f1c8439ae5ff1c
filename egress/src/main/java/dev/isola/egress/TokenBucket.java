package dev.isola.egress;

/**
 * A bucket of tokens that fills with time. An amount that it lacks is paid off by waiting. It is
 * guarded by the lock of its owner.
 */
final class TokenBucket {
  private static final double NANOS = 1e9;

  private double tokens;
  private long filledAt = System.nanoTime();

  /** Takes tokens. Returns how many nanoseconds the caller has to wait before it goes on. */
  long take(double count, double perSecond, double capacity) {
    long now = System.nanoTime();
    tokens = Math.min(capacity, tokens + (now - filledAt) / NANOS * perSecond) - count;
    filledAt = now;
    return tokens >= 0 ? 0 : (long) (-tokens / perSecond * NANOS);
  }
}
