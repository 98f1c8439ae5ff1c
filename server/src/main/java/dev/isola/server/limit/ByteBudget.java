package dev.isola.server.limit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that all requests of a server together may hold in memory for answers. Each request has a
 * little of its own beside it, so that a small answer never depends on others.
 */
public final class ByteBudget {
  private static final long LEAST = 16 << 20;
  private static final int PART_OF_HEAP = 4;

  private final AtomicLong left;

  public ByteBudget(long bytes) {
    left = new AtomicLong(bytes);
  }

  /** Returns one that leaves most of the heap to everything else. */
  public static ByteBudget ofThisProcess() {
    return new ByteBudget(Math.max(LEAST, Runtime.getRuntime().maxMemory() / PART_OF_HEAP));
  }

  /** Takes bytes, all of them or none. */
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

  /** Gives bytes back that were taken. */
  public void release(long bytes) {
    left.addAndGet(bytes);
  }

  public long available() {
    return left.get();
  }
}
