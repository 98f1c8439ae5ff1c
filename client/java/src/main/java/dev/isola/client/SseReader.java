package dev.isola.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads server-sent events. */
final class SseReader implements AutoCloseable {
  private static final int MAX_LINE = 8 << 20;

  /** An event; {@code data} is a JSON object. */
  record Event(String type, String id, String data) {}

  private final InputStream in;

  SseReader(InputStream in) {
    this.in = new BufferedInputStream(in, 64 * 1024);
  }

  /** Waits for the next event. Returns empty at the end of the stream. */
  Optional<Event> next() throws IOException {
    String type = "message";
    String id = "";
    StringBuilder data = new StringBuilder();
    while (true) {
      Optional<String> read = line();
      if (read.isEmpty()) {
        return Optional.empty(); // An incomplete event is discarded.
      }
      String line = read.get();
      if (line.isEmpty()) {
        if (!data.isEmpty()) {
          return Optional.of(new Event(type, id, data.toString()));
        }
        type = "message";
        continue;
      }
      int colon = line.indexOf(':');
      String field = colon < 0 ? line : line.substring(0, colon);
      String value = colon < 0 ? "" : line.substring(colon + 1);
      value = value.startsWith(" ") ? value.substring(1) : value;
      switch (field) {
        case "event" -> type = value;
        case "id" -> id = value;
        case "data" -> {
          if (data.length() + value.length() > MAX_LINE) {
            throw new IOException("an event is longer than " + MAX_LINE + " bytes");
          }
          data.append(data.isEmpty() ? "" : "\n").append(value);
        }
        default -> {} // a comment, or a field of a newer server
      }
    }
  }

  private Optional<String> line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        return Optional.empty();
      }
      if (line.size() >= MAX_LINE) {
        throw new IOException("a line is longer than " + MAX_LINE + " bytes");
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return Optional.of(line.toString(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      // Closing is best effort.
    }
  }
}
