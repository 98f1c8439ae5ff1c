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
  private static final int RESERVED_PART = 4;

  private final long most;
  private final long mostPerSandbox;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Long> bySandbox = new HashMap<>();
  private long all;

  /**
   * @param most 0 for no limit
   * @param mostPerSandbox 0 for no limit
   */
  PreviewLimiter(long most, long mostPerSandbox) {
    this.most = most;
    this.mostPerSandbox = mostPerSandbox;
  }

  RateLimiter.Permit acquire(String sandbox, boolean known) {
    lock.lock();
    try {
      long there = bySandbox.getOrDefault(sandbox, 0L);
      if (isFull(all, most, known)) {
        throw RateLimiter.rateLimited(
            "the server has reached its limit of concurrent requests to previews",
            "try again in a moment" + hint(known),
            1);
      }
      if (isFull(there, mostPerSandbox, known)) {
        throw RateLimiter.rateLimited(
            "the sandbox has reached its limit of concurrent requests to its ports",
            "try again in a moment" + hint(known),
            1);
      }
      all++;
      bySandbox.put(sandbox, there + 1);
    } finally {
      lock.unlock();
    }
    AtomicBoolean left = new AtomicBoolean();
    return () -> {
      if (left.compareAndSet(false, true)) {
        release(sandbox);
      }
    };
  }

  private static String hint(boolean known) {
    return known ? "" : "; part of the limit is reserved for requests with a key or token";
  }

  private static boolean isFull(long taken, long limit, boolean known) {
    long open = known ? limit : Math.max(1, limit - limit / RESERVED_PART);
    return limit > 0 && taken >= open;
  }

  private void release(String sandbox) {
    lock.lock();
    try {
      all--;
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
