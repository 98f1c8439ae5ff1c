package dev.isola.provider.memory.process;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Output;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The last output of one execution. While somebody is attached nothing is dropped that they have
 * not read: the writer waits. With nobody attached the oldest goes.
 */
final class Journal {
  static final int CAPACITY = 1 << 20;

  private static final int PIECE = 32 * 1024;
  private static final int MOST_PIECES = 8192;

  private static final class Piece {
    final Channel channel;
    final long offset;
    final Instant at = Instant.now();
    final byte[] bytes;

    Piece(Channel channel, long offset, byte[] bytes) {
      this.channel = channel;
      this.offset = offset;
      this.bytes = bytes;
    }

    long end() {
      return offset + bytes.length;
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private final Set<Reader> readers = new HashSet<>();
  private final Faults faults;
  private long first;
  private long end;
  private int heldBack;
  private boolean closed;

  Journal(Faults faults) {
    this.faults = faults;
  }

  void write(Channel channel, byte[] bytes, int offset, int length) throws InterruptedException {
    for (int done = 0; done < length; done += PIECE) {
      int from = offset + done;
      add(channel, Arrays.copyOfRange(bytes, from, from + Math.min(PIECE, length - done)));
    }
  }

  private void add(Channel channel, byte[] bytes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && holdsBack(bytes.length)) {
        if (faults.has(PlantedFault.SLOW_READER_LOSES)) {
          return;
        }
        heldBack++;
        try {
          changed.await();
        } finally {
          heldBack--;
        }
      }
      boolean cut = faults.has(PlantedFault.OUTPUT_CUT_SILENTLY) && end >= CAPACITY;
      if (closed || cut) {
        return;
      }
      pieces.put(end, new Piece(channel, end, bytes));
      end += bytes.length;
      while (end - first > CAPACITY || pieces.size() > MOST_PIECES) {
        first = pieces.pollFirstEntry().getValue().end();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether a writer waits for somebody to read. */
  boolean holdsBack() {
    lock.lock();
    try {
      return heldBack > 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether {@code more} bytes would push out a piece that somebody attached has not read.
   */
  private boolean holdsBack(int more) {
    long oldest = Long.MAX_VALUE;
    for (Reader reader : readers) {
      oldest = Math.min(oldest, reader.position);
    }
    long read = end - oldest;
    return read > CAPACITY - PIECE - more
        || (pieces.size() >= MOST_PIECES && oldest < pieces.firstEntry().getValue().end());
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  long first() {
    lock.lock();
    try {
      return first;
    } finally {
      lock.unlock();
    }
  }

  long end() {
    lock.lock();
    try {
      return end;
    } finally {
      lock.unlock();
    }
  }

  Reader attach(long offset) {
    Reader reader = new Reader(offset);
    lock.lock();
    try {
      readers.add(reader);
    } finally {
      lock.unlock();
    }
    return reader;
  }

  /** One who reads. Until it is closed, nothing is dropped before it was read here. */
  final class Reader implements AutoCloseable {
    private long position;

    private Reader(long position) {
      this.position = position;
    }

    /** Waits for the next piece; empty at the end. */
    Optional<Output> next() throws InterruptedException {
      lock.lockInterruptibly();
      try {
        while (position >= end && !closed) {
          changed.await();
        }
        if (position >= end) {
          return Optional.empty();
        }
        Output output = position < first ? new Output.Gap(position, first - position) : data();
        position = output.end();
        changed.signalAll();
        return Optional.of(output);
      } finally {
        lock.unlock();
      }
    }

    private Output data() {
      Piece piece = pieces.floorEntry(position).getValue();
      byte[] rest =
          Arrays.copyOfRange(piece.bytes, (int) (position - piece.offset), piece.bytes.length);
      return new Output.Data(piece.channel, position, piece.at, Bytes.of(rest));
    }

    /** Throws everything away until the output ends; false when it did not end in time. */
    boolean drain(long nanos) throws InterruptedException {
      long deadline = System.nanoTime() + nanos;
      lock.lockInterruptibly();
      try {
        while (true) {
          position = Math.max(position, end);
          changed.signalAll();
          if (closed) {
            return true;
          }
          if (!changed.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            position = Math.max(position, end);
            return closed;
          }
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        readers.remove(this);
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
