package dev.isola.snapshot;

import java.io.IOException;
import java.io.InputStream;

/** The next {@code length} bytes of a stream, which remains open behind them. */
final class LimitedInputStream extends InputStream {
  private final InputStream whole;
  private long left;

  LimitedInputStream(InputStream whole, long length) {
    this.whole = whole;
    this.left = length;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int count = left == 0 ? -1 : whole.read(to, offset, (int) Math.min(length, left));
    left -= Math.max(0, count);
    return count;
  }
}
