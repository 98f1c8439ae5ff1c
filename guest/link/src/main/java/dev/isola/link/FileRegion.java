package dev.isola.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Content of one frame that is still in a file. If the channel supports it, the kernel transfers
 * the bytes without copying them into this process.
 */
final class FileRegion {
  private static final int PIECE = 64 * 1024;

  private final FileChannel file;
  private final long position;
  private final int count;
  private final Consumer<@Nullable IOException> onRelease;
  private @Nullable IOException failure;

  /**
   * Creates a region of a file.
   *
   * @param onRelease called once, when the file is no longer needed, with the error that occurred
   *     while reading it
   */
  FileRegion(
      FileChannel file, long position, int count, Consumer<@Nullable IOException> onRelease) {
    this.file = file;
    this.position = position;
    this.count = count;
    this.onRelease = onRelease;
  }

  int count() {
    return count;
  }

  /**
   * Writes as many bytes as the frame header announced. Pads with zeros when the file fails or has
   * become shorter, so that only this stream fails and not the whole connection.
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

  /** Releases the file, whether it was written or not. */
  void release() {
    onRelease.accept(failure);
  }

  private int transfer(AgentChannel channel, int sent) {
    try {
      return (int) channel.transfer(file, position + sent, count - sent);
    } catch (IOException e) {
      return 0; // Reading or writing below reports which of the two failed.
    }
  }

  /** Copies a piece through memory; blocks while the channel is full. */
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
      failure = new EOFException("the file was truncated while it was sent");
    } catch (IOException e) {
      failure = e;
    }
    return 0;
  }
}
