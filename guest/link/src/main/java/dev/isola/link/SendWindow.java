package dev.isola.link;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Send side of a stream's flow control: DATA within the credit granted by the agent, then EOF. Has
 * its own lock, acquired after that of the stream.
 */
final class SendWindow {
  private static final int DATA_MAX = 128 * 1024;
  private static final long CREDIT_MAX = 1L << 40;

  private final AgentConnection connection;
  private final int number;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long credit;
  private int sending;
  private boolean ended;
  private boolean stopped;
  private boolean over;

  /**
   * Creates the send side of a stream.
   *
   * @param number of the stream
   * @param credit how many bytes may be sent before the first CREDIT
   */
  SendWindow(AgentConnection connection, int number, long credit) {
    this.connection = connection;
    this.number = number;
    this.credit = credit;
  }

  /**
   * Sends bytes as the agent's credit allows.
   *
   * @param timeout how long to wait for credit each time
   * @return false when the stream is over or the wait timed out
   */
  boolean send(ByteBuffer bytes, Duration timeout) throws InterruptedException {
    while (bytes.hasRemaining()) {
      int size = reserve(Math.min(bytes.remaining(), DATA_MAX), timeout);
      if (size == 0) {
        return false;
      }
      ByteBuffer frame =
          size >= BufferPool.MIN_FRAME
              ? BufferPool.SHARED.acquire(Wire.HEADER + size).limit(Wire.HEADER + size)
              : ByteBuffer.allocate(Wire.HEADER + size);
      frame.put(Wire.HEADER, bytes, bytes.position(), size);
      boolean posted = false;
      try {
        posted = post(frame);
        if (!posted) {
          return false;
        }
        bytes.position(bytes.position() + size);
      } finally {
        if (!posted) {
          BufferPool.SHARED.release(frame);
        }
        release(0);
      }
    }
    return true;
  }

  /**
   * Reserves credit for one frame; the caller then calls {@link #release}, whether the frame was
   * sent or not.
   *
   * @param timeout how long to wait for credit
   * @return how much, up to {@code most}; 0 when the stream is over or the wait timed out
   */
  int reserve(int max, Duration timeout) throws InterruptedException {
    long deadline = LinkStream.deadline(timeout);
    lock.lockInterruptibly();
    try {
      while (credit == 0 && maySend()) {
        if (!LinkStream.await(changed, deadline, timeout)) {
          return 0;
        }
      }
      if (!maySend()) {
        return 0;
      }
      int size = (int) Math.min(max, credit);
      credit -= size;
      sending++;
      return size;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends content within reserved credit; {@code frame} has room for the header in front.
   *
   * @return false when the connection is closed
   */
  boolean post(ByteBuffer frame) throws InterruptedException {
    return connection.sendContent(Wire.header(frame, Wire.DATA, number));
  }

  /** Sends a file region within reserved credit. Returns false when the connection is closed. */
  boolean post(FileRegion part) throws InterruptedException {
    return connection.sendContent(Wire.header(Wire.DATA, number, part.count()), part);
  }

  /** Returns the unused part of the credit reserved for a frame. */
  void release(int unused) {
    lock.lock();
    try {
      credit += unused;
      sending--;
      changed.signalAll();
      if (ended) {
        queueEof();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends EOF after all pending content. Does nothing when repeated or when the stream is over.
   *
   * @return false when the agent is about to hang up, so that EOF must be sent on the next stream
   */
  boolean sendEof() {
    lock.lock();
    try {
      if (connection.isHeld()) {
        return ended;
      }
      if (!ended) {
        ended = true;
        queueEof();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no content is being sent. Called when the agent is about to hang up. */
  void awaitIdle() {
    lock.lock();
    try {
      changed.signalAll();
      while (sending > 0 && !over) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  // Called by the stream.

  /**
   * Applies a CREDIT frame.
   *
   * @throws ProtocolViolation when it is invalid
   */
  void grant(byte[] payload) {
    if (payload.length != 4) {
      throw new ProtocolViolation("a CREDIT of " + payload.length + " bytes");
    }
    lock.lock();
    try {
      credit += Wire.getInt(payload, 0) & 0xffff_ffffL;
      if (credit > CREDIT_MAX) {
        throw new ProtocolViolation("credit is out of range");
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stops sending new content, because the receiver has cancelled; content with reserved credit is
   * still sent.
   */
  void stop() {
    lock.lock();
    try {
      stopped = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Stops sending altogether: the stream is over. */
  void close() {
    lock.lock();
    try {
      over = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean maySend() {
    return !over && !stopped && !ended && !connection.isHeld();
  }

  /** Waits for content with reserved credit, since content after EOF would close the connection. */
  private void queueEof() {
    if (sending == 0 && !over) {
      connection.sendControl(Wire.frame(Wire.EOF, number));
    }
  }
}
