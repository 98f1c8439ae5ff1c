package dev.isola.link;

import dev.isola.codec.time.Deadline;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The frames that a peer has not read yet, at most about a mebibyte of them. */
final class PeerOutput {
  private static final int FULL = 1024 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition drained = lock.newCondition();
  private final ArrayDeque<ByteBuffer> frames = new ArrayDeque<>();
  private final Duration stall;
  private long queued;
  private boolean finished;

  /**
   * @param stall how long a writer waits for a peer that does not read
   */
  PeerOutput(Duration stall) {
    this.stall = stall;
  }

  /**
   * Adds a frame, waiting while too much is queued.
   *
   * @return false if the peer has read nothing for too long, or nothing is accepted any more
   */
  boolean put(byte[] frame) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long before = queued;
      Deadline deadline = Deadline.in(stall);
      while (queued >= FULL && !finished) {
        if (queued < before) {
          before = queued;
          deadline = Deadline.in(stall);
        }
        if (deadline.over()) {
          return false;
        }
        long _ = drained.awaitNanos(deadline.leftNanos());
      }
      if (finished) {
        return false;
      }
      frames.add(ByteBuffer.wrap(frame));
      queued += frame.length;
      filled.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Adds a last frame, and accepts nothing more. What is queued can still be read. */
  void finish(byte[] last) {
    lock.lock();
    try {
      if (!finished) {
        frames.add(ByteBuffer.wrap(last));
        finished = true;
      }
      filled.signalAll();
      drained.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for bytes. Returns how many were read, or -1 at the end. */
  int read(ByteBuffer target) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (frames.isEmpty() && !finished) {
        filled.await();
      }
      int count = 0;
      while (target.hasRemaining() && !frames.isEmpty()) {
        ByteBuffer first = frames.element();
        int size = Math.min(first.remaining(), target.remaining());
        target.put(target.position(), first, first.position(), size);
        target.position(target.position() + size);
        first.position(first.position() + size);
        count += size;
        if (!first.hasRemaining()) {
          frames.remove();
        }
      }
      queued -= count;
      drained.signalAll();
      return count == 0 ? -1 : count;
    } finally {
      lock.unlock();
    }
  }
}
