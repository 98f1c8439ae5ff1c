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
    int one = super.read();
    if (one >= 0) {
      progress.accept(count.incrementAndGet());
    }
    return one;
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
  public long skip(long most) throws IOException {
    long skipped = super.skip(most);
    if (skipped > 0) {
      progress.accept(count.addAndGet(skipped));
    }
    return skipped;
  }
}
