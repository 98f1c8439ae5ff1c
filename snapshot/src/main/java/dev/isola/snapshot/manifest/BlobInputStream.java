package dev.isola.snapshot.manifest;

import dev.isola.snapshot.blob.BlobStore;
import java.io.IOException;
import java.io.InputStream;

/** A range of a blob. Holds one part of it in memory. */
final class BlobInputStream extends InputStream {
  private static final int PART = 1 << 20;

  private final BlobStore blobs;
  private final String name;
  private final long end;
  private long offset;
  private byte[] part = new byte[0];
  private int at;

  BlobInputStream(BlobStore blobs, String name, long begin, long end) {
    this.blobs = blobs;
    this.name = name;
    this.offset = begin;
    this.end = end;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int from, int length) throws IOException {
    if (at == part.length) {
      if (offset == end) {
        return -1;
      }
      part = blobs.read(name, offset, (int) Math.min(PART, end - offset));
      offset += part.length;
      at = 0;
    }
    int count = Math.min(length, part.length - at);
    System.arraycopy(part, at, to, from, count);
    at += count;
    return count;
  }
}
