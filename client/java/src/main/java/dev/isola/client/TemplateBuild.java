package dev.isola.client;

import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A build of a template, whose log is followed. It goes on where it was after the connection broke
 * or the server was restarted; no line comes twice. Closing ends the reading, not the build.
 */
public final class TemplateBuild implements AutoCloseable {
  /**
   * One line of the log.
   *
   * @param number counts up from 0
   * @param level info, warn or error
   * @param step the number of the step that it belongs to, from 1 on
   */
  public record Line(long number, Instant at, String level, Optional<Long> step, String message) {}

  private final Transport transport;
  private final ApiPath address;
  private final String id;
  private final ReconnectingStream following;
  private long offset;
  private @Nullable TemplateBuildInfo result;

  TemplateBuild(Transport transport, ApiPath address, String id) {
    this.transport = transport;
    this.address = address;
    this.id = id;
    this.following =
        new ReconnectingStream(
            transport, () -> address.resolve("log").query("offset", offset), "the log was");
  }

  /** Returns what names it within its template. */
  public String id() {
    return id;
  }

  public TemplateBuildInfo info() {
    return TemplateBuildInfo.read(transport.get(address));
  }

  /** Waits for the next line of the log; empty when the build is over and all was read. */
  public Optional<Line> read() {
    while (result == null) {
      Optional<Line> line = following.next(this::take);
      if (line.isPresent()) {
        return line;
      }
    }
    return Optional.empty();
  }

  private Optional<Line> take(SseReader.Event event) throws IOException {
    JsonFields fields = fields(event);
    switch (event.type()) {
      case "line" -> {
        Line line =
            new Line(
                fields.integer("number"),
                fields.time("at"),
                fields.text("level"),
                fields.optionalInteger("step"),
                fields.text("message"));
        if (line.number() < offset) {
          return Optional.empty(); // it was read before
        }
        offset = line.number() + 1;
        return Optional.of(line);
      }
      case "result" -> {
        result = TemplateBuildInfo.read(fields);
        following.disconnect();
      }
      case "error" -> throw Execution.streamError(fields).exception();
      default -> {} // something newer
    }
    return Optional.empty();
  }

  private static JsonFields fields(SseReader.Event event) throws IOException {
    try {
      return JsonFields.parse(event.data());
    } catch (MalformedJson e) {
      throw new IOException("an event cannot be read", e);
    }
  }

  /** Reads whatever is left of the log and returns how the build ended. */
  public TemplateBuildInfo await() {
    while (read().isPresent()) {
      // The lines are not wanted.
    }
    TemplateBuildInfo end = result;
    if (end == null) {
      throw new IllegalStateException("the log ended before the build");
    }
    return end;
  }

  @Override
  public void close() {
    following.close();
  }
}
