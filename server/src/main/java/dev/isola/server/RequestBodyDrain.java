package dev.isola.server;

import java.io.IOException;
import java.io.InputStream;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

/**
 * Reads and discards what a handler left of a request body, mostly that of a rejected request. Many
 * clients send the whole body before they read the response. If the server closed the connection
 * with unread input, the kernel would reset it, and such a client would report the reset instead of
 * the response.
 */
record RequestBodyDrain(Request request) {
  /** The largest body that is read before the response, so that the connection can be reused. */
  private static final int MAX_SMALL = 64 * 1024;

  /** The largest rest that is read after the response. */
  static final long MAX_REST = 256L << 20;

  /**
   * Returns whether the client has nothing left to send. Waits for the rest of a small body, and
   * reads what has already arrived of a large one.
   */
  boolean isComplete() throws IOException {
    boolean chunked = request.getHeaders().contains("Transfer-Encoding");
    if ((!chunked && request.getLength() <= 0) || awaitsPermission()) {
      return true;
    }
    if (!chunked && request.getLength() <= MAX_SMALL) {
      discard(MAX_SMALL);
      return true;
    }
    long total = 0;
    Content.Chunk chunk = request.read();
    while (chunk != null && !Content.Chunk.isFailure(chunk) && total < MAX_SMALL) {
      total += chunk.remaining();
      boolean last = chunk.isLast();
      chunk.release();
      if (last) {
        return true;
      }
      chunk = request.read();
    }
    if (chunk != null && !Content.Chunk.isFailure(chunk)) {
      chunk.release();
    }
    return false;
  }

  /**
   * Returns whether the client sends the body only after the server agrees ({@code Expect:
   * 100-continue}). Jetty agrees when a handler begins to read.
   */
  private boolean awaitsPermission() {
    return request.getHeaders().contains("Expect", "100-continue")
        && Request.getContentBytesRead(request) == 0;
  }

  /**
   * Reads the rest after the response was sent, for at most as long as a connection may be idle.
   * The connection of a client that sends more, or more slowly, is reset.
   */
  void discardRest() {
    try {
      discard(MAX_REST);
    } catch (IOException e) {
      // The client has read the response and has closed the connection, or sends nothing more.
    }
  }

  /** Reads what a handler did not need, after it has sent its response. */
  void discardUnread() {
    try {
      if (!isComplete()) {
        discard(MAX_REST);
      }
    } catch (IOException e) {
      // The client has closed the connection, or sends nothing more.
    }
  }

  private void discard(long most) throws IOException {
    long timeoutNanos = request.getConnectionMetaData().getConnector().getIdleTimeout() * 1_000_000;
    InputStream in = Content.Source.asInputStream(request);
    byte[] buffer = new byte[MAX_SMALL];
    long total = 0;
    long startNanos = System.nanoTime();
    int read = in.read(buffer);
    while (read >= 0 && total < most && System.nanoTime() - startNanos < timeoutNanos) {
      total += read;
      read = in.read(buffer);
    }
  }
}
