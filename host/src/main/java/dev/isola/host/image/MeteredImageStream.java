package dev.isola.host.image;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** A stream whose bytes are counted against a budget, and hashed where that is wanted. */
final class MeteredImageStream extends FilterInputStream {
  private final Budget budget;
  private final Optional<Sha256> hash;

  MeteredImageStream(InputStream in, Budget budget, Optional<Sha256> hash) {
    super(in);
    this.budget = budget;
    this.hash = hash;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int n = in.read(to, offset, length);
    if (n > 0) {
      budget.takeBytes(n);
      if (hash.isPresent()) {
        hash.get().update(to, offset, n);
      }
    }
    return n;
  }

  /** What is skipped counts like what is read. */
  @Override
  public long skip(long count) throws IOException {
    byte[] skipped = new byte[(int) Math.min(Math.max(count, 0), 1 << 16)];
    return Math.max(0, read(skipped, 0, skipped.length));
  }

  @Override
  public boolean markSupported() {
    return false;
  }

  /** Reads what is left: padding, which is part of what was hashed. */
  void drain() throws IOException {
    byte[] rest = new byte[1 << 16];
    while (read(rest, 0, rest.length) >= 0) {
      // counted and hashed above
    }
  }
}
