package dev.isola.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;

/**
 * Streams a JSON response. A short response is sent at once with its length; of a long one at most
 * one buffer is in memory.
 */
final class JsonResponseStream extends OutputStream {
  private static final int BUFFER = 64 * 1024;

  private final Response response;
  private final int status;
  private final String mediaType;
  private final ByteArrayOutputStream first = new ByteArrayOutputStream();
  private @Nullable OutputStream out;

  JsonResponseStream(Response response, int status, String mediaType) {
    this.response = response;
    this.status = status;
    this.mediaType = mediaType;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    if (out == null && first.size() + count <= BUFFER) {
      first.write(bytes, from, count);
      return;
    }
    startedOutput().write(bytes, from, count);
  }

  private OutputStream startedOutput() throws IOException {
    OutputStream started = out;
    if (started != null) {
      return started;
    }
    response.setStatus(status);
    response.getHeaders().put("Content-Type", mediaType);
    OutputStream output = Content.Sink.asOutputStream(response);
    out = output;
    first.writeTo(output);
    first.reset();
    return output;
  }

  /** Completes the response. A long response that is not completed is cut off visibly. */
  void finish() throws IOException {
    OutputStream started = out;
    if (started == null) {
      JettyExchange.writeResponse(response, status, mediaType, first.toByteArray());
    } else {
      started.close();
    }
  }
}
