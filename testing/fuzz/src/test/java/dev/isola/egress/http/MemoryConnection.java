package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;

/** One side of a proxied connection, in memory. */
final class MemoryConnection implements PortDialing.Connection {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final Consumer<ByteBuffer> onWrite;
  private ByteBuffer readable = ByteBuffer.allocate(0);
  private boolean ended;
  private boolean closed;

  /**
   * Creates a connection.
   *
   * @param onWrite is passed what the proxy writes
   */
  MemoryConnection(Consumer<ByteBuffer> onWrite) {
    this.onWrite = onWrite;
  }

  /** Lets the proxy read these bytes. */
  synchronized void supply(byte[] bytes) {
    ByteBuffer all = ByteBuffer.allocate(readable.remaining() + bytes.length);
    readable = all.put(readable).put(bytes).flip();
    notifyAll();
  }

  /** Ends the input of the proxy after what was supplied. */
  synchronized void end() {
    ended = true;
    notifyAll();
  }

  /** Returns all that the proxy wrote. */
  synchronized byte[] written() {
    return written.toByteArray();
  }

  @Override
  public synchronized int read(ByteBuffer target) throws ClosedChannelException {
    while (!readable.hasRemaining() && !ended && !closed) {
      try {
        wait();
      } catch (InterruptedException e) {
        throw new ClosedChannelException();
      }
    }
    if (closed) {
      throw new ClosedChannelException();
    }
    if (!readable.hasRemaining()) {
      return -1;
    }
    int count = Math.min(readable.remaining(), target.remaining());
    target.put(readable.slice(readable.position(), count));
    readable.position(readable.position() + count);
    return count;
  }

  @Override
  public synchronized int write(ByteBuffer source) throws ClosedChannelException {
    if (closed) {
      throw new ClosedChannelException();
    }
    ByteBuffer bytes = source.slice();
    int count = bytes.remaining();
    written.write(source.array(), source.arrayOffset() + source.position(), count);
    source.position(source.limit());
    onWrite.accept(bytes);
    return count;
  }

  /** The other end closes its side too. */
  @Override
  public void shutdownOutput() {
    end();
  }

  @Override
  public synchronized boolean isOpen() {
    return !closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
