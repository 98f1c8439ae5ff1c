package dev.isola.codec.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** An unencrypted connection. */
public record ChannelTransport(SocketChannel channel) implements HttpTransport {
  @Override
  public int read(ByteBuffer target) throws IOException {
    return channel.read(target);
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      channel.write(source);
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public boolean isStale() {
    try {
      channel.configureBlocking(false);
      try {
        return channel.read(ByteBuffer.allocate(1)) != 0;
      } finally {
        channel.configureBlocking(true);
      }
    } catch (IOException gone) {
      return true;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException ignored) {
      // Nothing more can be done if closing fails.
    }
  }
}
