package dev.isola.link;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * One byte channel to an agent, in both directions. One thread reads while another writes; {@link
 * #close()} comes from any thread, more than once, and wakes both.
 */
public interface AgentChannel extends Closeable {
  /** Waits for bytes; returns how many were read, at least one, or -1 at the end. */
  int read(ByteBuffer target) throws IOException;

  /** Writes all that remains in {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /**
   * Passes on a part of a file without reading it, where the channel can.
   *
   * @return how many bytes were written, 0 when that is not possible or not now
   */
  default long transfer(FileChannel source, long position, int count) throws IOException {
    return 0;
  }

  /**
   * Returns true when every opening of the channel starts with fresh bytes, as on a socket. On a
   * pipe or virtio port bytes of an earlier connection may still be under way, and the greeting
   * reads over them.
   */
  boolean isConnectionOriented();

  /**
   * Returns true when a blocked virtual thread gives up its carrier; otherwise platform threads are
   * used.
   */
  boolean supportsVirtualThreads();

  @Override
  void close();
}
