package dev.isola.client;

import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What happens to sandboxes, as it happens. It goes on where it was after the connection broke or
 * the server was restarted.
 */
public final class Events implements AutoCloseable {
  /**
   * One event.
   *
   * @param number counts up; what to begin after next time
   * @param type such as spawn, ready, stateChange, error, terminate
   */
  public record Event(
      long number,
      String type,
      Instant at,
      Optional<String> sandbox,
      Map<String, Object> data,
      Map<String, Object> document) {}

  private final Optional<String> sandbox;
  private final Following following;
  private Optional<Long> after;

  Events(Transport transport, Optional<String> sandbox, Optional<Long> after) {
    this.sandbox = sandbox;
    this.after = after;
    this.following = new Following(transport, this::address, "the events were");
  }

  /** Begins now, so that nothing is missed between this and the first {@link #next()}. */
  Events begun() {
    following.connect();
    return this;
  }

  /** Waits for the next event. There is always one more. */
  public Event next() {
    return following.next(this::read);
  }

  private Event read(Sse.Event event) throws IOException {
    try {
      Fields fields = Fields.parse(event.data());
      Event read =
          new Event(
              fields.whole("number"),
              fields.text("type"),
              fields.time("at"),
              fields.maybeText("sandbox"),
              fields.object("data").all(),
              fields.all());
      after = Optional.of(read.number());
      return read;
    } catch (MalformedJson e) {
      throw new IOException("an event cannot be read", e);
    }
  }

  private Address address() {
    Address address = Address.of("events");
    if (sandbox.isPresent()) {
      address = address.with("sandbox", sandbox.get());
    }
    return after.isPresent() ? address.with("after", after.get()) : address;
  }

  @Override
  public void close() {
    following.close();
  }
}
