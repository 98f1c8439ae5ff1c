package dev.isola.client;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/**
 * Response body with an idle timeout. The time between reads does not count, so that a slow reader
 * is not affected.
 */
final class IdleTimeoutInputStream extends InputStream {
  private static final long NOT_READING = 0;

  private final InputStream in;
  private final long timeoutNanos;
  private final Thread watcher;
  private volatile long readStart = NOT_READING;
  private volatile boolean timedOut;

  IdleTimeoutInputStream(InputStream in, Duration timeoutNanos) {
    this.in = in;
    this.timeoutNanos = timeoutNanos.toNanos();
    watcher = Thread.ofVirtual().name("isola-client-watch").start(this::watch);
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(1000);
        long began = readStart;
        if (began != NOT_READING && System.nanoTime() - began > timeoutNanos) {
          timedOut = true;
          in.close();
          return;
        }
      }
    } catch (InterruptedException | IOException e) {
      // The stream is closed.
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int from, int length) throws IOException {
    readStart = System.nanoTime() | 1; // never NOT_READING
    try {
      int count = in.read(buffer, from, length);
      if (timedOut) {
        throw new IOException("no data received for " + timeoutNanos / 1_000_000_000 + " s");
      }
      return count;
    } catch (IOException e) {
      throw timedOut
          ? new IOException("no data received for " + timeoutNanos / 1_000_000_000 + " s", e)
          : e;
    } finally {
      readStart = NOT_READING;
    }
  }

  @Override
  public void close() throws IOException {
    watcher.interrupt();
    in.close();
  }
}
