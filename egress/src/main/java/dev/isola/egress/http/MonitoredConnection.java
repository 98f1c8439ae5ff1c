package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection whose progress a monitor sees, and from which bytes can be peeked at. */
final class MonitoredConnection implements PortDialing.Connection {
  private final PortDialing.Connection below;
  private final ConnectionMonitor monitor;
  private ByteBuffer peeked = ByteBuffer.allocate(0);

  MonitoredConnection(PortDialing.Connection below, ConnectionMonitor monitor) {
    this.below = below;
    this.monitor = monitor;
    monitor.add(below);
  }

  /** Waits for {@code count} bytes, which are read again later. Fewer if the input ends. */
  byte[] peek(int count) throws IOException {
    ByteBuffer start = ByteBuffer.allocate(count);
    start.put(peeked);
    while (start.hasRemaining() && below.read(start) >= 0) {
      monitor.progress();
    }
    peeked = start.flip();
    byte[] bytes = new byte[peeked.remaining()];
    peeked.duplicate().get(bytes);
    return bytes;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    if (peeked.hasRemaining()) {
      int count = Math.min(target.remaining(), peeked.remaining());
      target.put(peeked.slice(peeked.position(), count));
      peeked.position(peeked.position() + count);
      return count;
    }
    int count = below.read(target);
    monitor.progress();
    return count;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int count = below.write(source);
    monitor.progress();
    return count;
  }

  @Override
  public void shutdownOutput() {
    below.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return below.isOpen();
  }

  @Override
  public void close() throws IOException {
    below.close();
  }
}
