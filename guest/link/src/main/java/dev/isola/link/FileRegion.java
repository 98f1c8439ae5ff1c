package dev.isola.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The content of one frame that is still in a file. Where the channel can, the kernel passes it on
 * and its bytes never come here.
 */
final class FileRegion {
  private static final int PIECE = 64 * 1024;

  private final FileChannel file;
  private final long position;
  private final int count;
  private final Consumer<@Nullable IOException> whenDone;
  private @Nullable IOException failure;

  /**
   * @param whenDone called once, when the file is not needed any more, with what was wrong with it
   */
  FileRegion(FileChannel file, long position, int count, Consumer<@Nullable IOException> whenDone) {
    this.file = file;
    this.position = position;
    this.count = count;
    this.whenDone = whenDone;
  }

  int count() {
    return count;
  }

  /**
   * Writes as many bytes as the header before them said. Where the file fails or has become shorter
   * the rest is zeros, so that only this stream suffers and not the whole connection.
   *
   * @throws IOException when the channel fails
   */
  void writeTo(AgentChannel channel) throws IOException {
    int sent = 0;
    while (sent < count && failure == null) {
      int moved = transfer(channel, sent);
      sent += moved > 0 ? moved : copy(channel, sent);
    }
    if (sent < count) {
      channel.write(ByteBuffer.allocate(count - sent));
    }
  }

  /** Lets go of the file, whether it was written or not. */
  void release() {
    whenDone.accept(failure);
  }

  private int transfer(AgentChannel channel, int sent) {
    try {
      return (int) channel.transfer(file, position + sent, count - sent);
    } catch (IOException e) {
      return 0; // Whichever of the two has failed fails again below.
    }
  }

  /** Goes the long way for a piece, which waits where the channel is full. */
  private int copy(AgentChannel channel, int sent) throws IOException {
    ByteBuffer piece = BufferPool.SHARED.acquire().limit(Math.min(PIECE, count - sent));
    try {
      int read = read(piece, position + sent);
      if (read > 0) {
        channel.write(piece.flip());
      }
      return read;
    } finally {
      BufferPool.SHARED.release(piece);
    }
  }

  private int read(ByteBuffer piece, long at) {
    try {
      int read = file.read(piece, at);
      if (read > 0) {
        return read;
      }
      failure = new EOFException("the file became shorter while it was sent");
    } catch (IOException e) {
      failure = e;
    }
    return 0;
  }
}
