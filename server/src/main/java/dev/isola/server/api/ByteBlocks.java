package dev.isola.server.api;

import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/**
 * A byte buffer of separate blocks, which avoids copying. The first blocks are free; each further
 * block is reserved from a shared budget and released on close.
 */
final class ByteBlocks implements AutoCloseable {
  static final int BLOCK = 16 * 1024;

  /** The number of blocks that need no reservation. */
  private static final int FREE_BLOCKS = 2;

  /** The size of the first block if the output is short. */
  private static final int SMALL_BLOCK = 512;

  private final ByteBudget budget;
  private final Deque<byte[]> blocks = new ArrayDeque<>();
  private int skipped; // bytes dropped from the first block
  private int filled; // bytes used in the last block
  private long size;
  private int taken;

  ByteBlocks(ByteBudget budget) {
    this.budget = budget;
  }

  long size() {
    return size;
  }

  /**
   * Appends as many bytes as there is room for.
   *
   * @return the number of bytes appended; less than requested when the budget is exhausted
   */
  int append(Bytes bytes, int from, int count) {
    int done = 0;
    while (done < count && hasRoom(count - done)) {
      byte[] last = blocks.getLast();
      int now = Math.min(count - done, last.length - filled);
      bytes.copyTo(from + done, last, filled, now);
      filled += now;
      done += now;
      size += now;
    }
    return done;
  }

  /** Returns whether the last block has room, adding a block if necessary and possible. */
  private boolean hasRoom(int requested) {
    if (!blocks.isEmpty() && filled < blocks.getLast().length) {
      return true;
    }
    if (blocks.size() >= FREE_BLOCKS) {
      if (!budget.tryReserve(BLOCK)) {
        return false;
      }
      taken++;
    }
    blocks.addLast(new byte[blocks.isEmpty() && requested <= SMALL_BLOCK ? SMALL_BLOCK : BLOCK]);
    filled = 0;
    return true;
  }

  /** Discards bytes from the start. */
  void drop(long count) {
    long left = Math.clamp(count, 0, size);
    size -= left;
    while (left > 0) {
      int inFirst = (blocks.size() == 1 ? filled : blocks.getFirst().length) - skipped;
      if (left < inFirst) {
        skipped += (int) left;
        return;
      }
      left -= inFirst;
      skipped = 0;
      blocks.removeFirst();
      if (taken > 0) {
        taken--;
        budget.release(BLOCK);
      }
    }
  }

  /** Returns a stream of the content, without copying. */
  InputStream stream() {
    List<InputStream> parts = new ArrayList<>();
    int number = 0;
    for (byte[] block : blocks) {
      int from = number == 0 ? skipped : 0;
      int to = number == blocks.size() - 1 ? filled : block.length;
      parts.add(new ByteArrayInputStream(block, from, to - from));
      number++;
    }
    return new SequenceInputStream(Collections.enumeration(parts));
  }

  @Override
  public void close() {
    blocks.clear();
    size = 0;
    skipped = 0;
    filled = 0;
    budget.release((long) taken * BLOCK);
    taken = 0;
  }
}
