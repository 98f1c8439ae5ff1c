package dev.isola.server.limit;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Limits concurrent requests to ports of sandboxes, separately from API requests, so that traffic
 * to public ports cannot block the API. A sandbox gets only a part of the total, and the last
 * quarter of both limits is reserved for authenticated requests.
 */
final class PreviewLimiter {
  private static final int RESERVED_FRACTION = 4;

  private final long limit;
  private final long limitPerSandbox;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Long> bySandbox = new HashMap<>();
  private long total;

  /**
   * @param limit 0 for no limit
   * @param limitPerSandbox 0 for no limit
   */
  PreviewLimiter(long limit, long limitPerSandbox) {
    this.limit = limit;
    this.limitPerSandbox = limitPerSandbox;
  }

  RateLimiter.Permit acquire(String sandbox, boolean authenticated) {
    lock.lock();
    try {
      long active = bySandbox.getOrDefault(sandbox, 0L);
      if (isFull(total, limit, authenticated)) {
        throw RateLimiter.rateLimited(
            "the server has reached its limit of concurrent requests to previews",
            "try again in a moment" + hint(authenticated),
            1);
      }
      if (isFull(active, limitPerSandbox, authenticated)) {
        throw RateLimiter.rateLimited(
            "the sandbox has reached its limit of concurrent requests to its ports",
            "try again in a moment" + hint(authenticated),
            1);
      }
      total++;
      bySandbox.put(sandbox, active + 1);
    } finally {
      lock.unlock();
    }
    AtomicBoolean released = new AtomicBoolean();
    return () -> {
      if (released.compareAndSet(false, true)) {
        release(sandbox);
      }
    };
  }

  private static String hint(boolean authenticated) {
    return authenticated ? "" : "; part of the limit is reserved for requests with a key or token";
  }

  private static boolean isFull(long used, long limit, boolean authenticated) {
    long available = authenticated ? limit : Math.max(1, limit - limit / RESERVED_FRACTION);
    return limit > 0 && used >= available;
  }

  private void release(String sandbox) {
    lock.lock();
    try {
      total--;
      // Sandbox names come from clients, so entries must not accumulate.
      bySandbox.computeIfPresent(sandbox, (any, count) -> count == 1 ? null : count - 1);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of sandboxes with active requests. */
  int sandboxes() {
    lock.lock();
    try {
      return bySandbox.size();
    } finally {
      lock.unlock();
    }
  }
}
