package dev.isola.link;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Pool of direct buffers for large frames, so that sockets and files transfer bytes without an
 * extra copy. Direct memory is expensive to allocate and slow to be reclaimed, so all connections
 * share a few buffers; when all are in use, callers get a heap buffer.
 *
 * <p>Bytes of one sandbox must not leak into another: a caller that releases a buffer must hold its
 * only reference.
 */
final class BufferPool {
  /** A buffer holds the largest frame. */
  static final int SIZE = Wire.HEADER + Wire.FRAME_MAX;

  /** Smallest frame that uses a pooled buffer. */
  static final int MIN_FRAME = 64 * 1024;

  static final BufferPool SHARED = new BufferPool(64);

  private final int maxBuffers;
  private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
  private int allocated;

  BufferPool(int maxBuffers) {
    this.maxBuffers = maxBuffers;
  }

  /** Returns an empty buffer that holds the largest frame. */
  ByteBuffer acquire() {
    return acquire(SIZE);
  }

  /**
   * Returns an empty buffer.
   *
   * @param size how much it must hold; one of the heap holds no more
   */
  ByteBuffer acquire(int size) {
    synchronized (free) {
      ByteBuffer block = free.poll();
      if (block != null) {
        return block.clear();
      }
      if (allocated == maxBuffers) {
        return ByteBuffer.allocate(size);
      }
      allocated++;
    }
    return ByteBuffer.allocateDirect(SIZE);
  }

  /** Returns how many pooled buffers are in use, for tests that check for leaks. */
  int inUse() {
    synchronized (free) {
      return allocated - free.size();
    }
  }

  /** Returns a buffer to the pool; ignores heap buffers. */
  void release(ByteBuffer block) {
    if (block.isDirect()) {
      synchronized (free) {
        free.push(block);
      }
    }
  }
}
