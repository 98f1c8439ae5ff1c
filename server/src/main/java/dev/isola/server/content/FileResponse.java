package dev.isola.server.content;

import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/** Content that goes out as it comes in. */
public final class FileResponse {
  private static final int BUFFER = 64 * 1024;

  private FileResponse() {}

  /** Sends all of {@code content}, and closes it. */
  public static void send(
      Exchange exchange, int status, String type, InputStream content, Map<String, String> headers)
      throws IOException {
    try (content) {
      byte[] buffer = new byte[BUFFER];
      // What cannot be read at all is an error, not half an answer.
      int read = content.read(buffer);
      try (OutputStream out = exchange.begin(status, type, headers)) {
        for (; read >= 0; read = content.read(buffer)) {
          out.write(buffer, 0, read);
        }
      }
    }
  }
}
