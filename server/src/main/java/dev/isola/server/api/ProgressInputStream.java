package dev.isola.server.api;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;

/** Reports the number of bytes read as server-sent progress events. */
final class ProgressInputStream extends FilterInputStream {
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final SseResponse sse;
  private long taken;
  private long lastSent = System.nanoTime();

  ProgressInputStream(InputStream from, SseResponse sse) {
    super(from);
    this.sse = sse;
  }

  long bytesRead() {
    return taken;
  }

  @Override
  public int read() throws IOException {
    int one = super.read();
    return count(one, one < 0 ? 0 : 1);
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int read = super.read(to, offset, length);
    return count(read, Math.max(0, read));
  }

  private int count(int result, int bytes) throws IOException {
    taken += bytes;
    if (System.nanoTime() - lastSent > INTERVAL.toNanos()) {
      sse.send("progress", Long.toString(taken), Map.of("bytes", taken));
      lastSent = System.nanoTime();
    }
    return result;
  }
}
