package dev.isola.client;

import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A build of a template, with its log. The log resumes by itself after a broken connection or a
 * restart of the server; no line is delivered twice. Closing stops reading, not the build.
 */
public final class TemplateBuild implements AutoCloseable {
  /**
   * A line of the log.
   *
   * @param number starts at 0
   * @param level info, warn or error
   * @param step number of the step, starting at 1; empty for lines outside of steps
   */
  public record Line(long number, Instant at, String level, Optional<Long> step, String message) {
    static Line read(JsonFields fields) {
      return new Line(
          fields.integer("number"),
          fields.time("at"),
          fields.text("level"),
          fields.optionalInteger("step"),
          fields.text("message"));
    }
  }

  private final Transport transport;
  private final ApiPath endpoint;
  private final String id;
  private final ReconnectingStream stream;
  private long offset;
  private @Nullable TemplateBuildInfo result;

  TemplateBuild(Transport transport, ApiPath endpoint, String id) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.id = id;
    this.stream =
        new ReconnectingStream(
            transport, () -> endpoint.resolve("log").query("offset", offset), "the log was");
  }

  /** Returns the id, unique within the template. */
  public String id() {
    return id;
  }

  public TemplateBuildInfo info() {
    return TemplateBuildInfo.read(transport.get(endpoint));
  }

  /**
   * Waits for the next line of the log. Returns empty once the build has ended and all lines are
   * read.
   */
  public Optional<Line> read() {
    while (result == null) {
      Optional<Line> line = stream.next(this::decode);
      if (line.isPresent()) {
        return line;
      }
    }
    return Optional.empty();
  }

  private Optional<Line> decode(SseReader.Event event) throws IOException {
    JsonFields fields = fields(event);
    switch (event.type()) {
      case "line" -> {
        Line line = Line.read(fields);
        if (line.number() < offset) {
          return Optional.empty(); // already read
        }
        offset = line.number() + 1;
        return Optional.of(line);
      }
      case "result" -> {
        result = TemplateBuildInfo.read(fields);
        stream.disconnect();
      }
      case "error" -> throw Execution.streamError(fields).exception();
      default -> {} // event type of a newer server
    }
    return Optional.empty();
  }

  private static JsonFields fields(SseReader.Event event) throws IOException {
    try {
      return JsonFields.parse(event.data());
    } catch (MalformedJson e) {
      throw new IOException("an event is malformed", e);
    }
  }

  /** Discards the rest of the log and returns the result of the build. */
  public TemplateBuildInfo await() {
    while (read().isPresent()) {
      // discard the line
    }
    TemplateBuildInfo end = result;
    if (end == null) {
      throw new IllegalStateException("the log ended before the build completed");
    }
    return end;
  }

  @Override
  public void close() {
    stream.close();
  }
}
