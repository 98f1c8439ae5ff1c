package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.io.InputStream;
import java.util.SplittableRandom;

/**
 * Cuts content where its own bytes say so (FastCDC), so that what is inserted in a file moves the
 * cuts near it and no others. A cut is likelier the further a chunk is beyond the usual size. Not
 * for several threads.
 */
public final class Chunker {
  static final int SMALLEST = 256 << 10;
  static final int USUAL = 1 << 20;
  static final int LARGEST = 4 << 20;

  /** Bits that must be zero for a cut: more of them before the usual size, fewer behind it. */
  private static final long STRICT = mask(22);

  private static final long LENIENT = mask(18);
  private static final long[] GEAR = gear();

  private final byte[] buffer = new byte[LARGEST];
  private int filled;

  /** Is given the chunks one after the other. */
  @FunctionalInterface
  public interface Taker {
    /** The bytes are good until it returns. */
    void take(byte[] bytes, int offset, int length) throws IOException;
  }

  /** Reads {@code content} to its end; an empty one has no chunk. */
  public void cut(InputStream content, Taker taker) throws IOException {
    filled = 0;
    while (true) {
      int read = content.readNBytes(buffer, filled, LARGEST - filled);
      filled += read;
      if (filled == 0) {
        return;
      }
      int length = length(filled);
      taker.take(buffer, 0, length);
      System.arraycopy(buffer, length, buffer, 0, filled - length);
      filled -= length;
    }
  }

  /** Returns where the first chunk of the buffer ends. */
  private int length(int available) {
    if (available <= SMALLEST) {
      return available;
    }
    long hash = 0;
    int usual = Math.min(USUAL, available);
    int at = SMALLEST;
    for (; at < usual; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & STRICT) == 0) {
        return at + 1;
      }
    }
    for (; at < available; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & LENIENT) == 0) {
        return at + 1;
      }
    }
    return available;
  }

  /** The upper bits of the hash depend on the most bytes. */
  private static long mask(int bits) {
    return -1L << (Long.SIZE - bits);
  }

  /** Numbers without meaning; they may never change, or nothing old is found again. */
  private static long[] gear() {
    SplittableRandom random = new SplittableRandom(0x15014);
    long[] table = new long[256];
    for (int i = 0; i < table.length; i++) {
      table[i] = random.nextLong();
    }
    return table;
  }
}
