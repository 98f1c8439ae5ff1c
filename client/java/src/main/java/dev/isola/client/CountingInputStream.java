package dev.isola.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Counts the bytes read and reports the total. */
final class CountingInputStream extends FilterInputStream {
  private final LongConsumer progress;
  private final AtomicLong count = new AtomicLong();

  CountingInputStream(InputStream in, LongConsumer progress) {
    super(in);
    this.progress = progress;
  }

  long count() {
    return count.get();
  }

  @Override
  public int read() throws IOException {
    int value = super.read();
    if (value >= 0) {
      progress.accept(count.incrementAndGet());
    }
    return value;
  }

  @Override
  public int read(byte[] buffer, int from, int length) throws IOException {
    int read = super.read(buffer, from, length);
    if (read > 0) {
      progress.accept(count.addAndGet(read));
    }
    return read;
  }

  @Override
  public long skip(long limit) throws IOException {
    long skipped = super.skip(limit);
    if (skipped > 0) {
      progress.accept(count.addAndGet(skipped));
    }
    return skipped;
  }
}
