package dev.isola.host.image;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** A stream that counts its bytes against a budget and optionally hashes them. */
final class MeteredImageStream extends FilterInputStream {
  private final Budget budget;
  private final Optional<ContentDigest> hash;

  MeteredImageStream(InputStream in, Budget budget, Optional<ContentDigest> hash) {
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

  /** Skipped bytes count as well. */
  @Override
  public long skip(long count) throws IOException {
    byte[] skipped = new byte[(int) Math.min(Math.max(count, 0), 1 << 16)];
    return Math.max(0, read(skipped, 0, skipped.length));
  }

  @Override
  public boolean markSupported() {
    return false;
  }

  /** Reads the rest, which is padding but part of the hash. */
  void drain() throws IOException {
    byte[] rest = new byte[1 << 16];
    while (read(rest, 0, rest.length) >= 0) {
      // Counted and hashed by read().
    }
  }
}
