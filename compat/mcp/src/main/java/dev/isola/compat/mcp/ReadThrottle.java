package dev.isola.compat.mcp;

import java.util.concurrent.locks.LockSupport;

/**
 * Limits how fast the messages of a hosted server are read. A server that writes more blocks on its
 * standard output. Used by one thread.
 */
final class ReadThrottle {
  private static final long SECOND = 1_000_000_000;

  private double messages = HostingLimits.MESSAGES_PER_SECOND;
  private double bytes = HostingLimits.BYTES_PER_SECOND;
  private long last = System.nanoTime();

  /** Waits until the rate permits further output. Returns early if the thread is interrupted. */
  void take(int moreMessages, int moreBytes) {
    messages -= moreMessages;
    bytes -= moreBytes;
    refill();
    while ((messages < 0 || bytes < 0) && !Thread.currentThread().isInterrupted()) {
      double seconds =
          Math.max(
              -messages / HostingLimits.MESSAGES_PER_SECOND,
              -bytes / HostingLimits.BYTES_PER_SECOND);
      LockSupport.parkNanos(Math.max(1_000_000, (long) (seconds * SECOND)));
      refill();
    }
  }

  private void refill() {
    long now = System.nanoTime();
    double seconds = (double) (now - last) / SECOND;
    last = now;
    messages =
        Math.min(
            HostingLimits.MESSAGES_PER_SECOND,
            messages + seconds * HostingLimits.MESSAGES_PER_SECOND);
    bytes =
        Math.min(HostingLimits.BYTES_PER_SECOND, bytes + seconds * HostingLimits.BYTES_PER_SECOND);
  }
}
