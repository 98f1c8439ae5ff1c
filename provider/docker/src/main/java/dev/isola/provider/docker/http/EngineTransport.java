package dev.isola.provider.docker.http;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection to an engine. One thread may read while another writes; closing from any thread
 * unblocks both.
 */
interface EngineTransport extends Closeable {
  /** Returns the number of bytes read, at least one, or -1 at the end. */
  int read(ByteBuffer target) throws IOException;

  /** Writes all remaining bytes of {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /** Half-closes the connection; the engine's data can still be read. */
  void shutdownOutput() throws IOException;

  /** Tells whether the engine closed the idle connection or sent unexpected data on it. */
  boolean isStale();

  @Override
  void close();
}
