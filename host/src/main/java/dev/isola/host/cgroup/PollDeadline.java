package dev.isola.host.cgroup;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A timeout with polling. The interval starts short, because most operations take less than a
 * millisecond.
 */
final class PollDeadline {
  private static final long FIRST_NANOS = 50_000;
  private static final long MAX_NANOS = 10_000_000;

  private final long end;
  private long pause = FIRST_NANOS;

  PollDeadline(Duration timeout) {
    this.end = System.nanoTime() + timeout.toNanos();
  }

  /** Waits for the next poll; returns false when the time is up. */
  boolean pause() throws IOException {
    long left = end - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    LockSupport.parkNanos(Math.min(left, pause));
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while waiting for a control group");
    }
    pause = Math.min(pause * 2, MAX_NANOS);
    return true;
  }
}
