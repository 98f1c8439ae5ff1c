package dev.isola.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Frames on their way out. Callers put, one thread of the connection writes. That the callers do
 * not write themselves is on purpose: interrupting a thread that writes to a socket closes the
 * socket, and a socket serves many callers.
 */
final class Outbox {
  /** Callers wait while more than this is queued. */
  private static final int FULL = 1024 * 1024;

  /** Frames up to this size are gathered and written at once. */
  private static final int GATHER = 32 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition drained = lock.newCondition();
  private final ArrayDeque<ByteBuffer> queue = new ArrayDeque<>();
  private long queued;
  private boolean closed;

  /**
   * Queues a frame of content, waiting while too much is queued; false when the connection is
   * closed. A block is given back once it is written.
   */
  boolean put(ByteBuffer frame) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (queued >= FULL && !closed) {
        drained.await();
      }
      return add(frame);
    } finally {
      lock.unlock();
    }
  }

  /** Queues a small frame without waiting; false when the connection is closed. */
  boolean putControl(byte[] frame) {
    lock.lock();
    try {
      return add(ByteBuffer.wrap(frame));
    } finally {
      lock.unlock();
    }
  }

  /** Queues a frame unless so much is queued that the agent seems not to read. */
  void offer(byte[] frame) {
    lock.lock();
    try {
      if (queued < FULL) {
        add(ByteBuffer.wrap(frame));
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      queue.forEach(Blocks.SHARED::giveBack);
      queue.clear();
      filled.signalAll();
      drained.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Writes what is put, until closed. Run by the connection's writing thread. */
  void writeTo(AgentChannel channel) throws IOException, InterruptedException {
    ByteBuffer gathered = ByteBuffer.allocate(GATHER);
    while (true) {
      ByteBuffer frame = gathered.position() == 0 ? take() : poll();
      if (frame == null && gathered.position() == 0) {
        return;
      }
      try {
        if (frame == null || frame.remaining() > gathered.remaining()) {
          channel.write(gathered.flip());
          gathered.clear();
        }
        if (frame != null && frame.remaining() > GATHER) {
          channel.write(frame);
        } else if (frame != null) {
          gathered.put(frame);
        }
      } finally {
        if (frame != null) {
          Blocks.SHARED.giveBack(frame);
        }
      }
    }
  }

  private boolean add(ByteBuffer frame) {
    if (closed) {
      return false;
    }
    queue.add(frame);
    queued += frame.remaining();
    filled.signal();
    return true;
  }

  private @Nullable ByteBuffer take() throws InterruptedException {
    lock.lock();
    try {
      while (queue.isEmpty() && !closed) {
        filled.await();
      }
      return removeFirst();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable ByteBuffer poll() {
    lock.lock();
    try {
      return removeFirst();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable ByteBuffer removeFirst() {
    ByteBuffer frame = queue.poll();
    if (frame != null) {
      boolean wasFull = queued >= FULL;
      queued -= frame.remaining();
      if (wasFull && queued < FULL) {
        drained.signalAll();
      }
    }
    return frame;
  }
}
