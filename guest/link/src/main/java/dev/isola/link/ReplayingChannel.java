package dev.isola.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * A channel whose first bytes were read already.
 *
 * @param first those bytes
 */
record ReplayingChannel(AgentChannel channel, ByteBuffer first) implements AgentChannel {
  @Override
  public int read(ByteBuffer target) throws IOException {
    if (!first.hasRemaining()) {
      return channel.read(target);
    }
    int count = Math.min(first.remaining(), target.remaining());
    target.put(first.slice(first.position(), count));
    first.position(first.position() + count);
    return count;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    channel.write(source);
  }

  @Override
  public long transfer(FileChannel source, long position, int count) throws IOException {
    return channel.transfer(source, position, count);
  }

  @Override
  public boolean isConnectionOriented() {
    return channel.isConnectionOriented();
  }

  @Override
  public boolean supportsVirtualThreads() {
    return channel.supportsVirtualThreads();
  }

  @Override
  public void close() {
    channel.close();
  }
}
