package dev.isola.server.limit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that all requests together may use for responses. Each request also has a small
 * allowance of its own, so that small responses never depend on other requests.
 */
public final class ByteBudget {
  private static final long MIN_BYTES = 16 << 20;
  private static final int HEAP_FRACTION = 4;

  private final AtomicLong left;

  public ByteBudget(long bytes) {
    left = new AtomicLong(bytes);
  }

  /** Returns a budget of a quarter of the heap. */
  public static ByteBudget ofThisProcess() {
    return new ByteBudget(Math.max(MIN_BYTES, Runtime.getRuntime().maxMemory() / HEAP_FRACTION));
  }

  /** Reserves bytes, all or none. */
  public boolean tryReserve(long bytes) {
    long before = left.get();
    while (before >= bytes) {
      if (left.compareAndSet(before, before - bytes)) {
        return true;
      }
      before = left.get();
    }
    return false;
  }

  /** Releases reserved bytes. */
  public void release(long bytes) {
    left.addAndGet(bytes);
  }

  public long available() {
    return left.get();
  }
}
