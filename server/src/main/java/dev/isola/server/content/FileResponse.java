package dev.isola.server.content;

import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/** Streams file content into a response. */
public final class FileResponse {
  private static final int BUFFER = 64 * 1024;

  private FileResponse() {}

  /** Sends {@code content} and closes it. */
  public static void send(
      Exchange exchange, int status, String type, InputStream content, Map<String, String> headers)
      throws IOException {
    try (content) {
      byte[] buffer = new byte[BUFFER];
      // Read before the response begins, so that an error can still be reported.
      int read = content.read(buffer);
      try (OutputStream out = exchange.begin(status, type, headers)) {
        for (; read >= 0; read = content.read(buffer)) {
          out.write(buffer, 0, read);
        }
      }
    }
  }
}
