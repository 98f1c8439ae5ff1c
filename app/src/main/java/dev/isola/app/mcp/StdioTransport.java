package dev.isola.app.mcp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads messages from standard input, one on each line, and writes those of the server to standard
 * output. Messages are handled at the same time, up to a limit; then reading waits.
 */
final class StdioTransport {
  private static final int MAX_CONCURRENT = 64;

  /** More than the server accepts, so that the server answers what is too large. */
  private static final int MAX_LINE = 2 << 20;

  /** How long requests may continue after the end of input. */
  private static final Duration END_TIMEOUT = Duration.ofSeconds(2);

  private final InputStream in;
  private final OutputStream out;
  private final HttpBridge bridge;
  private final Semaphore slots = new Semaphore(MAX_CONCURRENT);
  private final ReentrantLock writing = new ReentrantLock();

  StdioTransport(InputStream in, OutputStream out, HttpBridge bridge) {
    this.in = new BufferedInputStream(in);
    this.out = out;
    this.bridge = bridge;
  }

  /** Returns at the end of input, when the requests have been answered or cancelled. */
  void run() throws IOException {
    try {
      for (Optional<byte[]> line = readLine(); line.isPresent(); line = readLine()) {
        byte[] message = line.get();
        if (message.length > 0) {
          slots.acquire();
          Thread.ofVirtual().name("isola-mcp").start(() -> handle(message));
        }
      }
      boolean _ = slots.tryAcquire(MAX_CONCURRENT, END_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void handle(byte[] message) {
    try {
      bridge.send(message, this::write);
    } catch (IOException e) {
      // The client closed standard output; the end of its input follows.
    } finally {
      slots.release();
    }
  }

  private void write(byte[] message) throws IOException {
    byte[] line = new byte[message.length + 1];
    System.arraycopy(message, 0, line, 0, message.length);
    line[message.length] = '\n';
    writing.lock();
    try {
      out.write(line);
      out.flush();
    } finally {
      writing.unlock();
    }
  }

  /** Returns the next line, cut off where it is too long; empty at the end of input. */
  private Optional<byte[]> readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next = in.read();
    if (next < 0) {
      return Optional.empty();
    }
    for (; next >= 0 && next != '\n'; next = in.read()) {
      if (line.size() < MAX_LINE && next != '\r') {
        line.write(next);
      }
    }
    return Optional.of(line.toByteArray());
  }
}
