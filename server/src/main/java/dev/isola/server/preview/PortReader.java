package dev.isola.server.preview;

import dev.isola.spi.capability.PortDialing;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads what a port of a sandbox sends: lines while it is HTTP's turn, then bytes. */
final class PortReader {
  private static final int BUFFER = 16 * 1024;

  private final PortDialing.Connection port;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).flip();

  PortReader(PortDialing.Connection port) {
    this.port = port;
  }

  /**
   * Reads a line that ends as HTTP's do.
   *
   * @param longest how long it may be
   */
  String line(int longest) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int now = next(); now != '\r'; now = next()) {
      if (now == '\n' || line.size() >= longest) {
        throw new MalformedResponse(
            now == '\n' ? "a line of its head ends oddly" : "its head is too long");
      }
      line.write(now);
    }
    if (next() != '\n') {
      throw new MalformedResponse("a line of its head ends oddly");
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  private int next() throws IOException {
    if (!buffer.hasRemaining()) {
      buffer.clear();
      int read = port.read(buffer);
      buffer.flip();
      if (read < 0) {
        throw new EOFException("it hung up");
      }
    }
    return buffer.get() & 0xff;
  }

  /** Reads some bytes, as soon as there are any; -1 at the end. */
  int read(byte[] target, int most) throws IOException {
    int length = Math.min(most, target.length);
    if (buffer.hasRemaining()) {
      int ready = Math.min(length, buffer.remaining());
      buffer.get(target, 0, ready);
      return ready;
    }
    return port.read(ByteBuffer.wrap(target, 0, length));
  }

  /** Returns what was read and not asked for. */
  byte[] buffered() {
    byte[] rest = new byte[buffer.remaining()];
    buffer.get(rest);
    return rest;
  }
}
