package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Cuts content where its own bytes say so (FastCDC), so that what is inserted in a file moves the
 * cuts near it and no others. A cut is likelier the further a chunk is beyond the usual size. Long
 * runs of zeros are not chunks but holes. Not for several threads.
 */
public final class Chunker {
  static final int MIN_SIZE = 128 << 10;
  static final int AVERAGE_SIZE = 512 << 10;
  static final int MAX_SIZE = 2 << 20;

  /** So many zeros are a hole. */
  static final int MIN_HOLE = 128 << 10;

  /** Where it is looked for zeros: every run of {@link #MIN_HOLE} has such a place, and a page. */
  private static final int STRIDE = MIN_HOLE / 2;

  private static final byte[] ZEROS = new byte[STRIDE];
  private static final int PAGE = 4 << 10;

  /** Bits that must be zero for a cut: more of them before the usual size, fewer behind it. */
  private static final long STRICT = mask(21);

  private static final long LENIENT = mask(17);
  private static final long[] GEAR = gear();

  /** Twice the largest chunk, so that what is left is moved seldom. */
  private final byte[] buffer = new byte[2 * MAX_SIZE];

  private int begin;
  private int end;

  /** Is given chunks and holes one after the other. */
  public interface ChunkSink {
    /** The bytes are the taker's own. */
    void chunk(byte[] bytes) throws IOException;

    /** Holes may follow one another. */
    void hole(long length) throws IOException;
  }

  /** Reads {@code content} to its end; an empty one has no chunk. */
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

  /** Returns how far it is to the next hole, or what is available when there is none. */
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

  /** Returns how many zeros there are from there on. */
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

  /** Returns where the first chunk of the buffer ends. */
  private int length(int available) {
    if (available <= MIN_SIZE) {
      return available;
    }
    long hash = 0;
    int usual = begin + Math.min(AVERAGE_SIZE, available);
    int at = begin + MIN_SIZE;
    for (; at < usual; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & STRICT) == 0) {
        return at + 1 - begin;
      }
    }
    for (int last = begin + available; at < last; at++) {
      hash = (hash << 1) + GEAR[buffer[at] & 0xff];
      if ((hash & LENIENT) == 0) {
        return at + 1 - begin;
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
