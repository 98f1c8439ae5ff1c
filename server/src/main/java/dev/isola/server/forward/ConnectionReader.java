package dev.isola.server.forward;

import dev.isola.spi.capability.PortDialing;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads from a connection: lines of the HTTP head, then bytes of the body. */
public final class ConnectionReader {
  private static final int BUFFER = 16 * 1024;

  private final PortDialing.Connection port;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).flip();

  public ConnectionReader(PortDialing.Connection port) {
    this.port = port;
  }

  /**
   * Reads a line that ends with CRLF.
   *
   * @param maxLength the maximum length
   */
  String line(int maxLength) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int now = next(); now != '\r'; now = next()) {
      if (now == '\n' || line.size() >= maxLength) {
        throw new MalformedResponse(
            now == '\n' ? "a line of the head does not end with CRLF" : "the head is too large");
      }
      line.write(now);
    }
    if (next() != '\n') {
      throw new MalformedResponse("a line of the head does not end with CRLF");
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  private int next() throws IOException {
    if (!buffer.hasRemaining()) {
      buffer.clear();
      int read = port.read(buffer);
      buffer.flip();
      if (read < 0) {
        throw new EOFException("the connection was closed");
      }
    }
    return buffer.get() & 0xff;
  }

  /** Reads available bytes, waiting for at least one; returns -1 at the end. */
  int read(byte[] target, int maxBytes) throws IOException {
    int length = Math.min(maxBytes, target.length);
    if (buffer.hasRemaining()) {
      int ready = Math.min(length, buffer.remaining());
      buffer.get(target, 0, ready);
      return ready;
    }
    return port.read(ByteBuffer.wrap(target, 0, length));
  }

  /** Returns the bytes that were read from the connection but not consumed. */
  public byte[] buffered() {
    byte[] rest = new byte[buffer.remaining()];
    buffer.get(rest);
    return rest;
  }
}
