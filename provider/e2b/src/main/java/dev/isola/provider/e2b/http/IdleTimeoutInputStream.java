package dev.isola.provider.e2b.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A stream that fails if no byte arrives for a given time while it is being read. */
public final class IdleTimeoutInputStream extends FilterInputStream {
  private static final ScheduledExecutorService WATCH =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("e2b-silence").factory());
  private static final long NOT_READING = Long.MIN_VALUE;

  private final long most;
  private final ScheduledFuture<?> watching;
  private volatile long since = NOT_READING;
  private volatile boolean silent;

  public IdleTimeoutInputStream(InputStream in, Duration most) {
    super(in);
    this.most = most.toNanos();
    long period = Math.max(20, most.toMillis() / 10);
    watching = WATCH.scheduleWithFixedDelay(this::look, period, period, TimeUnit.MILLISECONDS);
  }

  private void look() {
    long start = since;
    if (start != NOT_READING && System.nanoTime() - start > most) {
      silent = true;
      watching.cancel(false);
      Thread.startVirtualThread(this::drop);
    }
  }

  private void drop() {
    try {
      in.close();
    } catch (IOException e) {
      // The reader gets the timeout.
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    since = System.nanoTime();
    try {
      int count = in.read(to, offset, length);
      if (silent && count < 0) {
        throw new IOException("no data arrived for " + Duration.ofNanos(most).toSeconds() + " s");
      }
      return count;
    } catch (IOException e) {
      throw silent
          ? new IOException("no data arrived for " + Duration.ofNanos(most).toSeconds() + " s", e)
          : e;
    } finally {
      since = NOT_READING;
    }
  }

  @Override
  public void close() throws IOException {
    watching.cancel(false);
    super.close();
  }
}
