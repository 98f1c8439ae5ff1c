package dev.isola.egress.http;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Passes a body through a {@link ByteSwapper}. Bytes that are held back while no more arrive would
 * stop a dialogue whose parties wait for each other, so some are released after a short time.
 */
final class SwappingSink {
  /** Receives what can be passed on. */
  interface Sink {
    void write(byte[] bytes) throws IOException;
  }

  private static final Duration RELEASE_AFTER = Duration.ofMillis(50);

  private final ByteSwapper swapper;
  private final Sink sink;
  private final ConnectionMonitor monitor;
  private final int mostReleased;
  private final ReentrantLock lock = new ReentrantLock();
  private long pieces;
  private boolean releaseScheduled;

  /**
   * @param mostReleased how many bytes of a sequence may be released. In a request a sequence is a
   *     placeholder, and any part of it may pass. In a response it is a secret: the few bytes that
   *     end a message by chance pass, more do not, not even if the response ends with them.
   */
  SwappingSink(ByteSwapper swapper, Sink sink, ConnectionMonitor monitor, int mostReleased) {
    this.swapper = swapper;
    this.sink = sink;
    this.monitor = monitor;
    this.mostReleased = mostReleased;
  }

  static SwappingSink ofRequest(ByteSwapper swapper, Sink sink, ConnectionMonitor monitor) {
    return new SwappingSink(swapper, sink, monitor, Integer.MAX_VALUE);
  }

  static SwappingSink ofResponse(ByteSwapper swapper, Sink sink, ConnectionMonitor monitor) {
    return new SwappingSink(swapper, sink, monitor, BoundSecret.MOST_DISCLOSED);
  }

  void write(byte[] piece, int at, int length) throws IOException {
    lock.lock();
    try {
      pass(swapper.next(piece, at, length));
      pieces++;
      scheduleRelease();
    } finally {
      lock.unlock();
    }
  }

  /** Passes on what is left. */
  void end() throws IOException {
    lock.lock();
    try {
      pieces++;
      pass(swapper.end(mostReleased));
    } finally {
      lock.unlock();
    }
  }

  /** Ends a stream that is cancelled. Returns how many bytes were not passed on. */
  int discard() {
    lock.lock();
    try {
      pieces++;
      return swapper.discard();
    } finally {
      lock.unlock();
    }
  }

  private void scheduleRelease() {
    if (swapper.holds() && !releaseScheduled) {
      releaseScheduled = true;
      long current = pieces;
      monitor.after(RELEASE_AFTER, () -> release(current));
    }
  }

  private void release(long atPiece) {
    lock.lock();
    try {
      releaseScheduled = false;
      if (pieces == atPiece) {
        pass(swapper.release(mostReleased));
      } else {
        scheduleRelease();
      }
    } catch (IOException e) {
      monitor.close(); // The next write would fail too.
    } finally {
      lock.unlock();
    }
  }

  private void pass(byte[] bytes) throws IOException {
    if (bytes.length > 0) {
      sink.write(bytes);
    }
  }
}
