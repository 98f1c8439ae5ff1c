package dev.isola.server.peer;

import dev.isola.codec.http.HttpTransport;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A connection to another server. */
final class PeerConnection implements PortDialing.Connection {
  private final URI url;
  private final String server;
  private final HttpTransport transport;
  private final Consumer<PeerConnection> closed;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /**
   * @param server the name of the other server
   * @param closed called once, when the connection is closed
   */
  PeerConnection(URI url, String server, HttpTransport transport, Consumer<PeerConnection> closed) {
    this.url = url;
    this.server = server;
    this.transport = transport;
    this.closed = closed;
  }

  URI url() {
    return url;
  }

  String server() {
    return server;
  }

  /** Returns whether the other server closed the idle connection. */
  boolean isStale() {
    return !open.get() || transport.isStale();
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return transport.read(target);
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int length = source.remaining();
    transport.write(source);
    return length;
  }

  @Override
  public void shutdownOutput() {
    try {
      transport.shutdownOutput();
    } catch (IOException e) {
      close(); // it is broken
    }
  }

  @Override
  public boolean isOpen() {
    return open.get();
  }

  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      transport.close();
      closed.accept(this);
    }
  }
}
