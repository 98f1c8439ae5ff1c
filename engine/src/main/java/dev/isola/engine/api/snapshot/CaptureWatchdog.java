package dev.isola.engine.api.snapshot;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Ends a capture whose sandbox sends little, or nothing, while other snapshots wait for the store.
 * A sandbox decides how fast it sends, and few that stall would otherwise delay all others for as
 * long as a capture may take. While no other snapshot waits, a slow capture continues.
 */
final class CaptureWatchdog {
  /** How long a capture may be slow in any case. */
  static final Duration GRACE = Duration.ofMinutes(2);

  /** Far less than any disk that a sandbox has. */
  static final long LEAST_BYTES_PER_SECOND = 1 << 20;

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private final String what;
  private final BooleanSupplier othersWait;
  private final LongSupplier nanoTime;
  private final Thread capturing = Thread.currentThread();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();
  private final long begin;
  private volatile long bytes;
  private boolean interrupted;

  /**
   * Watches what the current thread reads.
   *
   * @param what what is read, for the message
   * @param othersWait whether other snapshots wait for the store
   */
  CaptureWatchdog(String what, BooleanSupplier othersWait, LongSupplier nanoTime) {
    this(what, othersWait, nanoTime, INTERVAL);
  }

  CaptureWatchdog(
      String what, BooleanSupplier othersWait, LongSupplier nanoTime, Duration interval) {
    this.what = what;
    this.othersWait = othersWait;
    this.nanoTime = nanoTime;
    this.begin = nanoTime.getAsLong();
    Thread.ofVirtual().name("isola-capture-watchdog").start(() -> watch(interval));
  }

  private void watch(Duration interval) {
    try {
      while (!closed.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
        if (isSlow() && othersWait.getAsBoolean()) {
          end();
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isSlow() {
    long elapsed = nanoTime.getAsLong() - begin;
    return elapsed > GRACE.toNanos()
        && bytes < TimeUnit.NANOSECONDS.toSeconds(elapsed) * LEAST_BYTES_PER_SECOND;
  }

  private void end() {
    lock.lock();
    try {
      if (closed.getCount() > 0) {
        interrupted = true;
        capturing.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Stops watching, and returns whether the capture was interrupted. */
  private boolean stop() {
    lock.lock();
    try {
      closed.countDown();
      if (interrupted) {
        boolean _ = Thread.interrupted(); // what follows is not to be ended
      }
      return interrupted;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the same content, whose bytes are counted. */
  InputStream wrap(InputStream content) {
    return new FilterInputStream(content) {
      @Override
      public int read() throws IOException {
        int one = super.read();
        count(one < 0 ? 0 : 1);
        return one;
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        int read = super.read(to, offset, length);
        count(Math.max(0, read));
        return read;
      }
    };
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread reads the content
  private void count(int read) {
    bytes += read;
  }

  /**
   * Runs the capture on the current thread, and stops watching.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if it was ended
   */
  <T> T run(Supplier<T> capture) {
    try {
      T result = capture.get();
      boolean _ = stop();
      return result;
    } catch (RuntimeException e) {
      if (!stop()) {
        throw e;
      }
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              what
                  + " were read too slowly while other snapshots waited: "
                  + bytes
                  + " bytes in more than "
                  + GRACE.toMinutes()
                  + " min",
              "try again when fewer snapshots are taken, or remove or exclude files")
          .exception(e);
    } finally {
      closed.countDown();
    }
  }
}
