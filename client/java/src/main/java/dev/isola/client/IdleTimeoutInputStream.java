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
  private final long silence;
  private final Thread watcher;
  private volatile long since = NOT_READING;
  private volatile boolean silent;

  IdleTimeoutInputStream(InputStream in, Duration silence) {
    this.in = in;
    this.silence = silence.toNanos();
    watcher = Thread.ofVirtual().name("isola-client-watch").start(this::watch);
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(1000);
        long began = since;
        if (began != NOT_READING && System.nanoTime() - began > silence) {
          silent = true;
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
    since = System.nanoTime() | 1; // never NOT_READING
    try {
      int count = in.read(buffer, from, length);
      if (silent) {
        throw new IOException("no data received for " + silence / 1_000_000_000 + " s");
      }
      return count;
    } catch (IOException e) {
      throw silent
          ? new IOException("no data received for " + silence / 1_000_000_000 + " s", e)
          : e;
    } finally {
      since = NOT_READING;
    }
  }

  @Override
  public void close() throws IOException {
    watcher.interrupt();
    in.close();
  }
}
