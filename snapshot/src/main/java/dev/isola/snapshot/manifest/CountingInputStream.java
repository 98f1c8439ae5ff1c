package dev.isola.snapshot.manifest;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes that were read. */
final class CountingInputStream extends FilterInputStream {
  private long count;

  CountingInputStream(InputStream in) {
    super(in);
  }

  long count() {
    return count;
  }

  @Override
  public int read() throws IOException {
    int one = super.read();
    count += one < 0 ? 0 : 1;
    return one;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int n = super.read(to, offset, length);
    count += Math.max(n, 0);
    return n;
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
