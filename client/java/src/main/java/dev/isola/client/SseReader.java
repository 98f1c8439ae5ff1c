package dev.isola.client;

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
  private final byte[] buffer = new byte[64 * 1024];
  private volatile String lastId = "";
  private int at;
  private int end;

  SseReader(InputStream in) {
    this.in = in;
  }

  /** Returns the last id that the server sent, with an event or without; empty if none. */
  String lastId() {
    return lastId;
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
        lastId = id.isEmpty() ? lastId : id;
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

  /** Copies whole runs of bytes: most of a stream of output is a few long lines. */
  private Optional<String> line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      if (at == end) {
        at = 0;
        end = Math.max(0, in.read(buffer));
        if (end == 0) {
          return Optional.empty();
        }
      }
      int stop = at;
      while (stop < end && buffer[stop] != '\n') {
        stop++;
      }
      if (line.size() + (stop - at) > MAX_LINE) {
        throw new IOException("a line is longer than " + MAX_LINE + " bytes");
      }
      line.write(buffer, at, stop - at);
      at = Math.min(stop + 1, end);
      if (stop < end) {
        return Optional.of(withoutReturn(line.toString(StandardCharsets.UTF_8)));
      }
    }
  }

  private static String withoutReturn(String line) {
    return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
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
