package dev.isola.snapshot;

import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkReader;
import dev.isola.snapshot.failpoint.FailpointListener;
import dev.isola.snapshot.failpoint.SnapshotFailpoint;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Iterator;

/** The content of a file, read chunk by chunk. Holes are read as zeros. */
final class ChunkInputStream extends InputStream {
  private final Iterator<ChunkId> rest;
  private final ChunkReader chunks;
  private final FailpointListener failpoints;
  private byte[] chunk = new byte[0];
  private int at;
  private long zeros;

  ChunkInputStream(Iterator<ChunkId> rest, ChunkReader chunks, FailpointListener failpoints) {
    this.rest = rest;
    this.chunks = chunks;
    this.failpoints = failpoints;
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
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, available());
    if (zeros > 0) {
      Arrays.fill(to, offset, offset + count, (byte) 0);
      zeros -= count;
    } else {
      System.arraycopy(chunk, at, to, offset, count);
      at += count;
    }
    return count;
  }

  /** Skips over a hole without producing its zeros. */
  @Override
  public long skip(long count) throws IOException {
    if (count <= 0 || !fill()) {
      return 0;
    }
    if (zeros > 0) {
      long skipped = Math.min(count, zeros);
      zeros -= skipped;
      return skipped;
    }
    int skipped = (int) Math.min(count, chunk.length - at);
    at += skipped;
    return skipped;
  }

  @Override
  public int available() {
    return zeros > 0 ? (int) Math.min(zeros, Integer.MAX_VALUE) : chunk.length - at;
  }

  private boolean fill() throws IOException {
    while (at == chunk.length && zeros == 0) {
      if (!rest.hasNext()) {
        return false;
      }
      ChunkId next = rest.next();
      if (next.isHole()) {
        zeros = next.holeLength();
      } else {
        failpoints.reached(SnapshotFailpoint.RESTORE_READ);
        chunk = chunks.read(next);
        at = 0;
      }
    }
    return true;
  }
}
