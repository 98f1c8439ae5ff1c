package dev.isola.provider.docker.http;

import dev.isola.codec.http.HttpTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLSocket;

/** A TLS connection. It is never reused, because its staleness cannot be detected. */
record TlsTransport(SSLSocket socket) implements HttpTransport {
  @Override
  public int read(ByteBuffer target) throws IOException {
    int at = target.arrayOffset() + target.position();
    int count = socket.getInputStream().read(target.array(), at, target.remaining());
    target.position(target.position() + Math.max(count, 0));
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
