package dev.isola.engine.snapshot;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/** Reports periodically how many bytes were read from a sandbox. */
public final class CaptureProgress {
  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final LongConsumer listener;
  private long bytes;
  private long last = System.nanoTime();

  public CaptureProgress(LongConsumer listener) {
    this.listener = listener;
  }

  public InputStream wrap(InputStream archive) {
    return new FilterInputStream(archive) {
      @Override
      public int read() throws IOException {
        int one = super.read();
        count(one < 0 ? 0 : 1);
        return one;
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        int read = super.read(to, offset, length);
        count(read);
        return read;
      }
    };
  }

  private void count(long read) {
    bytes += Math.max(0, read);
    if (System.nanoTime() - last > INTERVAL_NANOS) {
      last = System.nanoTime();
      listener.accept(bytes);
    }
  }
}
