package dev.isola.client;

import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Stream of lifecycle events. Resumes by itself after a broken connection or a restart of the
 * server.
 */
public final class EventStream implements AutoCloseable {
  /**
   * A lifecycle event.
   *
   * @param number increases; pass it as {@code after} to continue behind this event
   * @param type such as spawn, ready, stateChange, error, terminate
   */
  public record Event(
      long number,
      String type,
      Instant at,
      Optional<String> sandbox,
      Map<String, Object> data,
      Map<String, Object> document) {}

  private final ReconnectingStream stream;
  private EventFilter filter;

  EventStream(Transport transport, EventFilter filter) {
    this.filter = filter;
    stream = new ReconnectingStream(transport, this::endpoint, "the event stream was");
  }

  /** Connects immediately, so that no event is missed before the first {@link #next()}. */
  EventStream connect() {
    stream.connect();
    return this;
  }

  /** Waits for the next event. The stream never ends. */
  public Event next() {
    return stream.next(this::read);
  }

  private Event read(SseReader.Event event) throws IOException {
    try {
      JsonFields fields = JsonFields.parse(event.data());
      Event read =
          new Event(
              fields.integer("number"),
              fields.text("type"),
              fields.time("at"),
              fields.optionalText("sandbox"),
              fields.object("data").all(),
              fields.all());
      filter = filter.after(read.number());
      return read;
    } catch (MalformedJson e) {
      throw new IOException("an event is malformed", e);
    }
  }

  /**
   * The server also sends its position without an event, so that a stream that got none yet misses
   * none when it reconnects.
   */
  private ApiPath endpoint() {
    String position = stream.lastId();
    if (position.matches("[0-9]{1,18}")) {
      long number = Long.parseLong(position);
      filter = filter.after(Math.max(number, filter.after().orElse(0L)));
    }
    return filter.applyTo(ApiPath.of("events"));
  }

  @Override
  public void close() {
    stream.close();
  }
}
