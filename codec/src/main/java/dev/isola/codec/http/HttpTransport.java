package dev.isola.codec.http;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection to a server. One thread may read while another writes; closing from any thread
 * unblocks both.
 */
public interface HttpTransport extends Closeable {
  /** Returns the number of bytes read, at least one, or -1 at the end. */
  int read(ByteBuffer target) throws IOException;

  /** Writes all remaining bytes of {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /** Half-closes the connection; the data of the server can still be read. */
  void shutdownOutput() throws IOException;

  /** Tells whether the server closed the idle connection or sent unexpected data on it. */
  boolean isStale();

  @Override
  void close();
}
