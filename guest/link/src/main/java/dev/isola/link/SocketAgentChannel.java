package dev.isola.link;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;

/**
 * A channel to an agent over a connected socket.
 *
 * @param isConnectionOriented false when the socket leads to a virtio port
 */
record SocketAgentChannel(SocketChannel channel, boolean isConnectionOriented)
    implements AgentChannel {
  /** Large enough for whole frames; the kernel caps it. */
  private static final int SEND_BUFFER = 4 << 20;

  /** Returns a channel over a connected socket. */
  static SocketAgentChannel of(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER);
    return new SocketAgentChannel(channel, true);
  }

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
  public long transfer(FileChannel source, long position, int count) throws IOException {
    return source.transferTo(position, count, channel);
  }

  @Override
  public boolean supportsVirtualThreads() {
    return true;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException ignored) {
      // Nothing else can be done.
    }
  }
}
