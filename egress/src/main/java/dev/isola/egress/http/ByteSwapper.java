package dev.isola.egress.http;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;

/**
 * Replaces byte sequences in a stream by others of the same length. A sequence may be split over
 * any number of pieces: the end of a piece that can be the beginning of a sequence is held back
 * until the next piece, at most one byte less than the longest sequence.
 */
final class ByteSwapper {
  /**
   * A sequence and its replacement.
   *
   * @param to as long as {@code from}
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Swap(byte[] from, byte[] to) {
    Swap {
      if (from.length != to.length || from.length == 0) {
        throw new IllegalArgumentException("a replacement has another length");
      }
    }
  }

  private final List<Swap> swaps;
  private final boolean[] first = new boolean[256];
  private final boolean remembers;
  private byte[] held = new byte[0];

  /** How many bytes of {@code held} were passed on already. */
  private int released;

  /**
   * @param remembers whether a sequence whose beginning was released is still replaced, as far as
   *     it was not released
   */
  ByteSwapper(List<Swap> swaps, boolean remembers) {
    // Of two sequences with the same beginning the longer one is found.
    this.swaps =
        swaps.stream().sorted(Comparator.comparingInt((Swap s) -> -s.from().length)).toList();
    this.remembers = remembers;
    for (Swap swap : swaps) {
      first[swap.from()[0] & 0xff] = true;
    }
  }

  /** Returns the bytes that can be passed on after this piece. */
  byte[] next(byte[] piece, int at, int length) {
    if (swaps.isEmpty()) {
      return Arrays.copyOfRange(piece, at, at + length);
    }
    byte[] all = Arrays.copyOf(held, held.length + length);
    System.arraycopy(piece, at, all, held.length, length);
    return process(all, OptionalInt.empty());
  }

  /**
   * Returns the bytes that are left at the end of the stream. If more than {@code most} of them are
   * the beginning of a sequence, they are replaced by that of its replacement.
   */
  byte[] end(int most) {
    return process(held, OptionalInt.of(most));
  }

  boolean holds() {
    return held.length > released;
  }

  /** Forgets the held bytes, since the stream is cancelled. Returns how many were not passed on. */
  int discard() {
    int count = held.length - released;
    held = new byte[0];
    released = 0;
    return count;
  }

  /** Returns held bytes because no more arrive for now. At most {@code most} stay released. */
  byte[] release(int most) {
    int end = Math.min(held.length, most);
    if (end <= released) {
      return new byte[0];
    }
    byte[] bytes = Arrays.copyOfRange(held, released, end);
    released = end;
    if (!remembers && end == held.length) {
      held = new byte[0];
      released = 0;
    }
    return bytes;
  }

  /**
   * @param most as in {@link #end}; empty if more follows
   */
  private byte[] process(byte[] all, OptionalInt most) {
    int at = 0;
    scan:
    while (at < all.length) {
      if (first[all[at] & 0xff]) {
        for (Swap swap : swaps) {
          int length = Math.min(swap.from().length, all.length - at);
          if (Arrays.equals(all, at, at + length, swap.from(), 0, length)) {
            boolean replaced =
                length == swap.from().length || (most.isPresent() && length > most.getAsInt());
            if (replaced) {
              System.arraycopy(swap.to(), 0, all, at, length);
              at += length;
              continue scan;
            }
            if (most.isEmpty()) {
              break scan;
            }
          }
        }
      }
      at++;
    }
    byte[] ready = Arrays.copyOfRange(all, Math.min(released, at), at);
    held = Arrays.copyOfRange(all, at, all.length);
    released = Math.max(0, released - at);
    return ready;
  }
}
