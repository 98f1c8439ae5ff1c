package dev.isola.provider.docker.http;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One connection to an engine. One thread reads while another writes; closing comes from any thread
 * and wakes both.
 */
interface EngineTransport extends Closeable {
  /** Returns how many bytes were read, at least one, or -1 at the end. */
  int read(ByteBuffer target) throws IOException;

  /** Writes all that remains in {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /** Says that nothing more comes from us; what the engine sends still arrives. */
  void shutdownOutput() throws IOException;

  /**
   * Tells whether the engine closed it, or sent something nobody asked for, while it was not in
   * use.
   */
  boolean isStale();

  @Override
  void close();
}
