package dev.isola.engine.snapshot;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/** Tells now and then how many bytes have come from a sandbox. */
final class Progress {
  private static final long PAUSE = 1_000_000_000;

  private final LongConsumer told;
  private long bytes;
  private long last = System.nanoTime();

  Progress(LongConsumer told) {
    this.told = told;
  }

  InputStream around(InputStream archive) {
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
    if (System.nanoTime() - last > PAUSE) {
      last = System.nanoTime();
      told.accept(bytes);
    }
  }
}
