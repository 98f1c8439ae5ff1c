package dev.isola.provider.docker.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLSocket;

/**
 * A connection over TCP with encryption. It is never used twice: whether it still stands is not to
 * be seen.
 */
record TlsTransport(SSLSocket socket) implements EngineTransport {
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
      // Nothing is left to do with a socket that cannot even be closed.
    }
  }
}
