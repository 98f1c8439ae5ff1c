package dev.isola.link;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

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
  private final ArrayDeque<byte[]> queue = new ArrayDeque<>();
  private long queued;
  private boolean closed;

  /**
   * Queues a frame of content, waiting while too much is queued; false when the connection is
   * closed.
   */
  boolean put(byte[] frame) throws InterruptedException {
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
      return add(frame);
    } finally {
      lock.unlock();
    }
  }

  /** Queues a frame unless so much is queued that the agent seems not to read. */
  void offer(byte[] frame) {
    lock.lock();
    try {
      if (queued < FULL) {
        add(frame);
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      queue.clear();
      filled.signalAll();
      drained.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Writes what is put, until closed. Run by the connection's writing thread. */
  void writeTo(AgentChannel channel) throws IOException, InterruptedException {
    byte[] gathered = new byte[GATHER];
    int size = 0;
    while (true) {
      byte[] frame = size == 0 ? take() : poll();
      if (frame == null && size == 0) {
        return;
      }
      if (frame == null || size + frame.length > GATHER) {
        channel.write(gathered, 0, size);
        size = 0;
      }
      if (frame != null && frame.length > GATHER) {
        channel.write(frame, 0, frame.length);
      } else if (frame != null) {
        System.arraycopy(frame, 0, gathered, size, frame.length);
        size += frame.length;
      }
    }
  }

  private boolean add(byte[] frame) {
    if (closed) {
      return false;
    }
    queue.add(frame);
    queued += frame.length;
    filled.signal();
    return true;
  }

  private byte @org.jspecify.annotations.Nullable [] take() throws InterruptedException {
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

  private byte @org.jspecify.annotations.Nullable [] poll() {
    lock.lock();
    try {
      return removeFirst();
    } finally {
      lock.unlock();
    }
  }

  private byte @org.jspecify.annotations.Nullable [] removeFirst() {
    byte[] frame = queue.poll();
    if (frame != null) {
      boolean wasFull = queued >= FULL;
      queued -= frame.length;
      if (wasFull && queued < FULL) {
        drained.signalAll();
      }
    }
    return frame;
  }
}
