package dev.isola.spi.exec;

import dev.isola.spi.Bytes;
import java.util.Arrays;

/**
 * Retains the head and the tail of one channel in bounded memory. The head grows as it fills; the
 * tail is a ring buffer.
 */
final class OutputCollector {
  private final OutputLimit limit;
  private byte[] head = new byte[0];
  private int headSize;
  private byte[] ring = new byte[0];
  private int ringStart;
  private int ringSize;
  private long total;
  private boolean headClosed;

  OutputCollector(OutputLimit limit) {
    this.limit = limit;
  }

  void add(Bytes bytes) {
    total += bytes.size();
    int toHead = headClosed ? 0 : Math.min(bytes.size(), limit.head() - headSize);
    if (toHead > 0) {
      head = grown(head, headSize + toHead, limit.head());
      bytes.copyTo(0, head, headSize, toHead);
      headSize += toHead;
    }
    addToTail(bytes, Math.max(toHead, 0));
  }

  /** Bytes after a gap cannot belong to the head, and bytes before it cannot belong to the tail. */
  void addLost(long bytes) {
    if (bytes > 0) {
      total += bytes;
      headClosed = true;
      ringStart = 0;
      ringSize = 0;
    }
  }

  CapturedOutput captured() {
    byte[] tail = new byte[ringSize];
    int first = Math.min(ringSize, ring.length - ringStart);
    System.arraycopy(ring, ringStart, tail, 0, first);
    System.arraycopy(ring, 0, tail, first, ringSize - first);
    return new CapturedOutput(Bytes.wrap(Arrays.copyOf(head, headSize)), Bytes.wrap(tail), total);
  }

  private void addToTail(Bytes bytes, int from) {
    int count = bytes.size() - from;
    if (count <= 0 || limit.tail() == 0) {
      return;
    }
    if (count > limit.tail()) {
      from += count - limit.tail();
      count = limit.tail();
    }
    growRing(Math.min((long) ringSize + count, limit.tail()));
    int drop = Math.max(0, ringSize + count - ring.length);
    if (drop > 0) {
      ringStart = (ringStart + drop) % ring.length;
      ringSize -= drop;
    }
    int at = (ringStart + ringSize) % ring.length;
    int first = Math.min(count, ring.length - at);
    bytes.copyTo(from, ring, at, first);
    bytes.copyTo(from + first, ring, 0, count - first);
    ringSize += count;
  }

  /** The ring wraps only at its full size, so until then growing it is a plain copy. */
  private void growRing(long needed) {
    if (ring.length < needed) {
      byte[] larger = new byte[capacity(ring.length, needed, limit.tail())];
      int first = Math.min(ringSize, ring.length - ringStart);
      System.arraycopy(ring, ringStart, larger, 0, first);
      System.arraycopy(ring, 0, larger, first, ringSize - first);
      ring = larger;
      ringStart = 0;
    }
  }

  private static byte[] grown(byte[] array, int needed, int most) {
    return array.length >= needed
        ? array
        : Arrays.copyOf(array, capacity(array.length, needed, most));
  }

  private static int capacity(int now, long needed, int most) {
    return (int) Math.min(most, Math.max(needed, Math.max(1024, 2L * now)));
  }
}
