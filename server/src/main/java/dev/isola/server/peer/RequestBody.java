package dev.isola.server.peer;

import dev.isola.server.forward.ForwardableExchange;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** The body of a request that is passed on. */
sealed interface RequestBody {
  /** The largest body that is read before it is sent, so that it can be sent again. */
  int MAX_BUFFERED = 64 * 1024;

  /** Bytes that were read; none for a request without a body. */
  @SuppressWarnings("ArrayRecordComponent")
  record Buffered(byte[] bytes) implements RequestBody {}

  /**
   * Bytes that are read while they are sent. The owner must agree first, so that nothing is read in
   * vain.
   *
   * @param length -1 if unknown
   */
  record Streamed(InputStream content, long length) implements RequestBody {}

  /** Returns the body of a request of which nothing was read. */
  static RequestBody of(ForwardableExchange exchange) throws IOException {
    long length = exchange.length();
    if (length < 0 || length > MAX_BUFFERED) {
      return new Streamed(exchange.content(), length);
    }
    byte[] bytes = length == 0 ? new byte[0] : exchange.content().readNBytes((int) length);
    if (bytes.length < length) {
      throw new EOFException("the body is truncated");
    }
    return new Buffered(bytes);
  }
}
