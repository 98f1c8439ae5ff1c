package dev.isola.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Queue of outgoing frames. Callers add frames; one thread of the connection writes them. Callers
 * do not write themselves, because interrupting a thread that writes to a socket closes the socket,
 * which other callers share.
 */
final class SendQueue {
  /** Callers wait while more bytes than this are queued. */
  private static final int FULL = 1024 * 1024;

  /** Frames up to this size are gathered into one write. */
  private static final int GATHER = 32 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition drained = lock.newCondition();
  private final ArrayDeque<QueuedFrame> queue = new ArrayDeque<>();
  private long queued;
  private boolean closed;

  /**
   * Queues a content frame, waiting while too much is queued. Returns false when the connection is
   * closed. A pooled buffer is released once it is written.
   */
  boolean put(ByteBuffer frame) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      awaitRoom();
      return add(new QueuedFrame(frame, null));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Queues a frame whose content is a file region, in the same way; releases the region once it is
   * written.
   */
  boolean put(byte[] header, FileRegion region) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      awaitRoom();
      return add(new QueuedFrame(ByteBuffer.wrap(header), region));
    } finally {
      lock.unlock();
    }
  }

  /** Queues a small frame without waiting. Returns false when the connection is closed. */
  boolean putControl(byte[] frame) {
    lock.lock();
    try {
      return add(new QueuedFrame(ByteBuffer.wrap(frame), null));
    } finally {
      lock.unlock();
    }
  }

  /** Queues a frame unless the queue is full because the agent does not read. */
  void offer(byte[] frame) {
    lock.lock();
    try {
      if (queued < FULL) {
        add(new QueuedFrame(ByteBuffer.wrap(frame), null));
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      queue.forEach(QueuedFrame::release);
      queue.clear();
      filled.signalAll();
      drained.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Writes queued frames until closed. Runs on the connection's writing thread. */
  void writeTo(AgentChannel channel) throws IOException, InterruptedException {
    ByteBuffer gathered = ByteBuffer.allocate(GATHER);
    while (true) {
      QueuedFrame frame = gathered.position() == 0 ? take() : poll();
      if (frame == null && gathered.position() == 0) {
        return;
      }
      try {
        write(frame, gathered, channel);
      } finally {
        if (frame != null) {
          frame.release();
        }
      }
    }
  }

  /** Gathers small frames; flushes them when nothing follows or the next frame does not fit. */
  private static void write(@Nullable QueuedFrame frame, ByteBuffer gathered, AgentChannel channel)
      throws IOException {
    if (frame == null || frame.bytes().remaining() > gathered.remaining()) {
      flush(gathered, channel);
    }
    if (frame == null) {
      return;
    }
    if (frame.bytes().remaining() > GATHER) {
      channel.write(frame.bytes());
    } else {
      gathered.put(frame.bytes());
    }
    if (frame.region() != null) {
      flush(gathered, channel);
      frame.region().writeTo(channel);
    }
  }

  private static void flush(ByteBuffer gathered, AgentChannel channel) throws IOException {
    channel.write(gathered.flip());
    gathered.clear();
  }

  private void awaitRoom() throws InterruptedException {
    while (queued >= FULL && !closed) {
      drained.await();
    }
  }

  private boolean add(QueuedFrame frame) {
    if (closed) {
      return false;
    }
    queue.add(frame);
    queued += frame.size();
    filled.signal();
    return true;
  }

  private @Nullable QueuedFrame take() throws InterruptedException {
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

  private @Nullable QueuedFrame poll() {
    lock.lock();
    try {
      return removeFirst();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable QueuedFrame removeFirst() {
    QueuedFrame frame = queue.poll();
    if (frame != null) {
      boolean wasFull = queued >= FULL;
      queued -= frame.size();
      if (wasFull && queued < FULL) {
        drained.signalAll();
      }
    }
    return frame;
  }

  /**
   * A queued frame.
   *
   * @param bytes a whole frame, or its header when the content is a file region
   */
  private record QueuedFrame(ByteBuffer bytes, @Nullable FileRegion region) {
    int size() {
      return bytes.remaining() + (region == null ? 0 : region.count());
    }

    void release() {
      BufferPool.SHARED.release(bytes);
      if (region != null) {
        region.release();
      }
    }
  }
}
