package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Splits content into chunks at boundaries determined by the content itself (FastCDC), so that an
 * insertion only changes the chunks near it. Beyond the average size a boundary becomes more
 * likely. Long runs of zeros become holes instead of chunks. Not thread-safe.
 */
public final class Chunker {
  static final int MIN_SIZE = 128 << 10;
  static final int AVERAGE_SIZE = 512 << 10;
  static final int MAX_SIZE = 2 << 20;

  /** The shortest run of zeros that becomes a hole. */
  static final int MIN_HOLE = 128 << 10;

  /**
   * The distance between two positions that are tested for zeros. Every run of {@link #MIN_HOLE}
   * zeros includes such a position and the page at it.
   */
  private static final int STRIDE = MIN_HOLE / 2;

  private static final byte[] ZEROS = new byte[STRIDE];
  private static final int PAGE = 4 << 10;

  /**
   * Hash bits that must be zero at a boundary: more of them below the average size, fewer above.
   */
  private static final long STRICT_MASK = mask(21);

  private static final long LENIENT_MASK = mask(17);
  private static final long[] GEAR = gear();

  /** Twice the maximum chunk size, so that the remainder rarely has to be moved. */
  private final byte[] buffer = new byte[2 * MAX_SIZE];

  private int begin;
  private int end;

  /**
   * Receives chunks and holes in order. An interface, so that finding the boundaries, which must
   * never change, knows nothing of what happens to the chunks.
   */
  public interface ChunkSink {
    /** Receives a chunk; the sink owns the array. */
    void chunk(byte[] bytes) throws IOException;

    /** Receives a hole; another hole may follow directly. */
    void hole(long length) throws IOException;
  }

  /** Splits {@code content} up to its end. Empty content has no chunks. */
  public void cut(InputStream content, ChunkSink taker) throws IOException {
    begin = 0;
    end = 0;
    boolean ended = false;
    while (true) {
      if (!ended && end - begin < MAX_SIZE) {
        System.arraycopy(buffer, begin, buffer, 0, end - begin);
        end -= begin;
        begin = 0;
        int wanted = buffer.length - end;
        int read = content.readNBytes(buffer, end, wanted);
        end += read;
        ended = read < wanted;
      }
      if (begin == end) {
        return;
      }
      int available = Math.min(MAX_SIZE, end - begin);
      int hole = findHole(available);
      if (hole == 0) {
        int length = zeros(begin);
        taker.hole(length);
        begin += length;
      } else {
        int length = length(hole);
        taker.chunk(Arrays.copyOfRange(buffer, begin, begin + length));
        begin += length;
      }
    }
  }

  /** Returns the distance to the next hole, or {@code available} if there is none. */
  private int findHole(int available) {
    int limit = begin + available;
    for (int at = begin; at + PAGE <= limit; at += STRIDE) {
      if (buffer[at] != 0 || !isZero(at, PAGE)) {
        continue;
      }
      int first = at;
      while (first > begin && buffer[first - 1] == 0) {
        first--;
      }
      if (at - first + zeros(at) >= MIN_HOLE) {
        return first - begin;
      }
    }
    return available;
  }

  private boolean isZero(int at, int length) {
    return Arrays.mismatch(buffer, at, at + length, ZEROS, 0, length) < 0;
  }

  /** Returns the number of zeros from {@code from} on. */
  private int zeros(int from) {
    int at = from;
    while (at < end) {
      int length = Math.min(ZEROS.length, end - at);
      int other = Arrays.mismatch(buffer, at, at + length, ZEROS, 0, length);
      if (other >= 0) {
        return at + other - from;
      }
      at += length;
    }
    return at - from;
  }

  /** Returns the length of the first chunk in the buffer. */
  private int length(int available) {
    if (available <= MIN_SIZE) {
      return available;
    }
    long hash = 0;
    int usual = begin + Math.min(AVERAGE_SIZE, available);
    int at = begin + MIN_SIZE;
    for (; at < usual; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & STRICT_MASK) == 0) {
        return at + 1 - begin;
      }
    }
    for (int last = begin + available; at < last; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & LENIENT_MASK) == 0) {
        return at + 1 - begin;
      }
    }
    return available;
  }

  /** Uses the upper bits of the hash, which depend on the most bytes. */
  private static long mask(int bits) {
    return -1L << (Long.SIZE - bits);
  }

  /**
   * Returns arbitrary constants. They must never change, or existing content is no longer
   * deduplicated.
   */
  private static long[] gear() {
    SplittableRandom random = new SplittableRandom(0x15014);
    long[] table = new long[256];
    for (int i = 0; i < table.length; i++) {
      table[i] = random.nextLong();
    }
    return table;
  }
}
