package dev.isola.provider.memory.file;

import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of one file, in chunks, counted against the disk until the file is removed. What is
 * written to a file without a name counts for as long as the sandbox lives.
 */
final class Content {
  private static final int CHUNK = 64 * 1024;

  /** What a file takes beside its bytes, so that the number of files is bounded too. */
  private static final int INODE = 1024;

  private final Quota quota;
  private final boolean countsWithoutName;
  private final List<byte[]> chunks = new ArrayList<>();
  private long size;
  private boolean released;

  Content(Quota quota, boolean countsWithoutName) {
    quota.take(INODE);
    this.quota = quota;
    this.countsWithoutName = countsWithoutName;
  }

  synchronized long size() {
    return size;
  }

  /** Reads at {@code position}; returns -1 at the end. */
  synchronized int read(long position, byte[] buffer, int offset, int length) {
    if (position >= size) {
      return -1;
    }
    byte[] chunk = chunks.get((int) (position / CHUNK));
    int at = (int) (position % CHUNK);
    int count = (int) Math.min(Math.min(length, CHUNK - at), size - position);
    System.arraycopy(chunk, at, buffer, offset, count);
    return count;
  }

  synchronized void write(long position, byte[] bytes, int offset, int length) {
    grow(position + length);
    int done = 0;
    while (done < length) {
      byte[] chunk = chunks.get((int) ((position + done) / CHUNK));
      int at = (int) ((position + done) % CHUNK);
      int count = Math.min(length - done, CHUNK - at);
      System.arraycopy(bytes, offset + done, chunk, at, count);
      done += count;
    }
  }

  synchronized void append(byte[] bytes, int offset, int length) {
    write(size, bytes, offset, length);
  }

  private void grow(long needed) {
    if (needed <= size) {
      return;
    }
    if (!released || countsWithoutName) {
      quota.take(needed - size);
    }
    while ((long) chunks.size() * CHUNK < needed) {
      chunks.add(new byte[CHUNK]);
    }
    size = needed;
  }

  synchronized void clear() {
    if (!released) {
      quota.give(size);
    }
    chunks.clear();
    size = 0;
  }

  /** No name leads here any more; whoever has it open may go on. */
  synchronized void release() {
    if (!released) {
      quota.give(size + INODE);
      released = true;
    }
  }
}
