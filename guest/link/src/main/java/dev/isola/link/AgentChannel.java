package dev.isola.link;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Bidirectional byte channel to an agent. One thread reads while another writes; {@link #close()}
 * may be called from any thread and more than once, and wakes both.
 */
public interface AgentChannel extends Closeable {
  /** Waits for bytes. Returns how many were read, at least one, or -1 at the end. */
  int read(ByteBuffer target) throws IOException;

  /** Writes all remaining bytes of {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /**
   * Transfers a region of a file without reading it into memory, if the channel supports that.
   *
   * @return how many bytes were written; 0 when the transfer is not possible, or not now
   */
  default long transfer(FileChannel source, long position, int count) throws IOException {
    return 0;
  }

  /**
   * Returns true when every opening of the channel starts with fresh bytes, as on a socket. On a
   * pipe or a virtio port, bytes of an earlier connection may still arrive, and the handshake skips
   * them.
   */
  boolean isConnectionOriented();

  /**
   * Returns true when a blocked virtual thread releases its carrier; otherwise the connection uses
   * platform threads.
   */
  boolean supportsVirtualThreads();

  @Override
  void close();
}
