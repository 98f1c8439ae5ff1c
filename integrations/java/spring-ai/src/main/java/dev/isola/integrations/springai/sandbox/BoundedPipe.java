package dev.isola.integrations.springai.sandbox;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One channel of a process: bytes that one thread writes and any thread reads. A writer waits while
 * the pipe is full.
 */
final class BoundedPipe extends InputStream {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final byte[] buffer;
  private int start;
  private int count;
  private boolean ended;
  private boolean closed;
  private @Nullable IOException failure;

  BoundedPipe(int size) {
    buffer = new byte[size];
  }

  /** Appends bytes; drops them if the reader has closed the pipe. */
  void write(byte[] bytes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      int done = 0;
      while (done < bytes.length) {
        while (count == buffer.length && !closed) {
          changed.await();
        }
        if (closed) {
          return;
        }
        int at = (start + count) % buffer.length;
        int length =
            Math.min(Math.min(bytes.length - done, buffer.length - count), buffer.length - at);
        System.arraycopy(bytes, done, buffer, at, length);
        count += length;
        done += length;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the stream, after the bytes that are left. */
  void end(@Nullable IOException reason) {
    lock.lock();
    try {
      ended = true;
      failure = reason;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    lock.lock();
    try {
      while (count == 0 && !ended && !closed) {
        changed.awaitUninterruptibly();
      }
      if (closed) {
        throw new IOException("the stream is closed");
      }
      if (count == 0) {
        if (failure != null) {
          throw new IOException(failure.getMessage(), failure);
        }
        return -1;
      }
      int read = Math.min(Math.min(length, count), buffer.length - start);
      System.arraycopy(buffer, start, into, offset, read);
      start = (start + read) % buffer.length;
      count -= read;
      changed.signalAll();
      return read;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int available() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
