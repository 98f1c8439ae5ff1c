package dev.isola.provider.memory.process;

import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A pipe of bounded size: a writer waits while it is full, a reader while it is empty. */
public final class Pipe {
  private static final int CAPACITY = 64 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final byte[] ring = new byte[CAPACITY];
  private int start;
  private int count;
  private boolean noWriter;
  private boolean noReader;

  private final OpenFile reader =
      new OpenFile() {
        @Override
        public int read(byte[] buffer, int offset, int length) throws InterruptedException {
          return Pipe.this.read(buffer, offset, length);
        }

        @Override
        protected void closed() {
          closeReader();
        }
      };

  private final OpenFile writer =
      new OpenFile() {
        @Override
        public void write(byte[] bytes, int offset, int length)
            throws IOException, InterruptedException {
          Pipe.this.write(bytes, offset, length);
        }

        @Override
        protected void closed() {
          closeWriter();
        }
      };

  public OpenFile reader() {
    return reader;
  }

  public OpenFile writer() {
    return writer;
  }

  private int read(byte[] buffer, int offset, int length) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (count == 0) {
        if (noWriter) {
          return -1;
        }
        changed.await();
      }
      int taken = Math.min(length, count);
      for (int done = 0; done < taken; ) {
        int some = Math.min(taken - done, CAPACITY - start);
        System.arraycopy(ring, start, buffer, offset + done, some);
        start = (start + some) % CAPACITY;
        done += some;
      }
      count -= taken;
      changed.signalAll();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  void write(byte[] bytes, int offset, int length) throws IOException, InterruptedException {
    int done = 0;
    lock.lockInterruptibly();
    try {
      while (done < length) {
        while (count == CAPACITY && !noReader) {
          changed.await();
        }
        if (noReader) {
          throw new BrokenPipe();
        }
        int at = (start + count) % CAPACITY;
        int some = Math.min(Math.min(length - done, CAPACITY - count), CAPACITY - at);
        System.arraycopy(bytes, offset + done, ring, at, some);
        count += some;
        done += some;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void closeWriter() {
    lock.lock();
    try {
      noWriter = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void closeReader() {
    lock.lock();
    try {
      noReader = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean broken() {
    lock.lock();
    try {
      return noReader || noWriter;
    } finally {
      lock.unlock();
    }
  }
}
