package dev.isola.engine.metrics;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.LongConsumer;

/** Reports the number of bytes written. */
final class MeteredOutputStream extends FilterOutputStream {
  private final LongConsumer count;

  MeteredOutputStream(OutputStream inner, LongConsumer count) {
    super(inner);
    this.count = count;
  }

  @Override
  public void write(int one) throws IOException {
    out.write(one);
    count.accept(1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    out.write(bytes, from, length);
    count.accept(length);
  }

  /** Closes without the flush of the inherited method, which hides errors. */
  @Override
  public void close() throws IOException {
    out.close();
  }
}
