package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A connection to a server. */
record SocketConnection(SocketChannel channel) implements PortDialing.Connection {
  @Override
  public int read(ByteBuffer target) throws IOException {
    return channel.read(target);
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    return channel.write(source);
  }

  @Override
  public void shutdownOutput() {
    try {
      channel.shutdownOutput();
    } catch (IOException ignored) {
      // The server is gone, so it needs no end.
    }
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
