package dev.isola.codec.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** A body with chunked transfer encoding. A body that fails is left unterminated. */
final class ChunkedOutput extends BufferedOutputStream {
  private static final int PIECE = 64 * 1024;

  ChunkedOutput(OutputStream out) {
    super(new Pieces(out), PIECE);
  }

  /** Writes the last chunk. */
  void end() throws IOException {
    flush();
    ((Pieces) out).end();
  }

  private static final class Pieces extends OutputStream {
    private final OutputStream out;

    private Pieces(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] content, int from, int length) throws IOException {
      if (length > 0) { // An empty chunk would be the last.
        out.write((Integer.toHexString(length) + "\r\n").getBytes(ISO_8859_1));
        out.write(content, from, length);
        out.write("\r\n".getBytes(ISO_8859_1));
      }
    }

    private void end() throws IOException {
      out.write("0\r\n\r\n".getBytes(ISO_8859_1));
    }
  }
}
