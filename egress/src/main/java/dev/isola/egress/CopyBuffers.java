package dev.isola.egress;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;

/** Buffers outside the heap, which are reused: allocating one is slow, and freeing it is late. */
final class CopyBuffers {
  private static final int SIZE = 128 * 1024;
  private static final int KEPT = 64;
  private static final ArrayBlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(KEPT);

  private CopyBuffers() {}

  static ByteBuffer take() {
    ByteBuffer free = FREE.poll();
    return free == null ? ByteBuffer.allocateDirect(SIZE) : free.clear();
  }

  static void giveBack(ByteBuffer buffer) {
    if (!FREE.offer(buffer)) {
      assert FREE.remainingCapacity() == 0; // dropped: enough are kept
    }
  }
}
