package dev.isola.link;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Memory outside the heap for large frames, so that sockets and files fill and empty it without a
 * copy in between. It is costly to get and the collector is slow to give it back, hence a few
 * blocks serve everybody; who comes when they are all in use gets one on the heap.
 *
 * <p>Bytes of one sandbox must not show up in another: whoever gives a block back must be the only
 * one who still has it.
 */
final class BufferPool {
  /** A block holds the largest frame. */
  static final int SIZE = Wire.HEADER + Wire.FRAME_MAX;

  /** A frame from this size on is worth a block. */
  static final int MIN_FRAME = 64 * 1024;

  static final BufferPool SHARED = new BufferPool(64);

  private final int most;
  private final ArrayDeque<ByteBuffer> spare = new ArrayDeque<>();
  private int made;

  BufferPool(int most) {
    this.most = most;
  }

  /** Returns an empty block. */
  ByteBuffer acquire() {
    synchronized (spare) {
      ByteBuffer block = spare.poll();
      if (block != null) {
        return block.clear();
      }
      if (made == most) {
        return ByteBuffer.allocate(SIZE);
      }
      made++;
    }
    return ByteBuffer.allocateDirect(SIZE);
  }

  /** Returns how many are not back yet, for tests that look whether all come back. */
  int inUse() {
    synchronized (spare) {
      return made - spare.size();
    }
  }

  /** Takes a block back; any other buffer is left alone. */
  void release(ByteBuffer block) {
    if (block.isDirect()) {
      synchronized (spare) {
        spare.push(block);
      }
    }
  }
}
