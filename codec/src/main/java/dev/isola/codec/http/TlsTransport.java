package dev.isola.codec.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLSocket;

/** A TLS connection. It is never reused, because it does not show that the other side left. */
public record TlsTransport(SSLSocket socket) implements HttpTransport {
  @Override
  public int read(ByteBuffer target) throws IOException {
    byte[] piece = new byte[Math.min(target.remaining(), 16 * 1024)];
    int count = socket.getInputStream().read(piece);
    if (count > 0) {
      target.put(piece, 0, count);
    }
    return count;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    byte[] piece = new byte[source.remaining()];
    source.get(piece);
    socket.getOutputStream().write(piece);
  }

  @Override
  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  @Override
  public boolean isStale() {
    return true;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException ignored) {
      // Nothing more can be done if closing fails.
    }
  }
}
