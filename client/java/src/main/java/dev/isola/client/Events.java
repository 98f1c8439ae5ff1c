package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

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

  private final Transport transport;
  private final Optional<String> sandbox;
  private final Patience patience;
  private Optional<Long> after;
  private volatile @Nullable Sse stream;
  private volatile boolean closed;

  Events(Transport transport, Optional<String> sandbox, Optional<Long> after) {
    this.transport = transport;
    this.sandbox = sandbox;
    this.after = after;
    this.patience = new Patience(transport.options().reconnectFor());
  }

  /** Begins now, so that nothing is missed between this and the first {@link #next()}. */
  Events begun() {
    connect();
    return this;
  }

  /** Waits for the next event. There is always one more. */
  public Event next() {
    while (true) {
      try {
        Sse from = stream;
        if (from == null) {
          from = connect();
        }
        Sse.Event event = from.next().orElseThrow(() -> new EOFException("the stream ended"));
        patience.heard();
        return read(event);
      } catch (IOException e) {
        again(transport.unreachable(e));
      } catch (IsolaException e) {
        if (!Transport.passing(e)) {
          throw e;
        }
        again(e);
      }
    }
  }

  private Event read(Sse.Event event) throws IOException {
    try {
      Fields fields = new Fields(Json.read(event.data()));
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
    } catch (JacksonException | IllegalArgumentException e) {
      throw new IOException("an event cannot be read", e);
    }
  }

  private Sse connect() {
    Address address = Address.of("events");
    if (sandbox.isPresent()) {
      address = address.with("sandbox", sandbox.get());
    }
    if (after.isPresent()) {
      address = address.with("after", after.get());
    }
    Sse opened = new Sse(transport.openOnce(address));
    stream = opened;
    patience.connected();
    return opened;
  }

  private void again(IsolaException failure) {
    disconnect();
    if (closed) {
      throw Problem.here("CANCELLED", "the events were closed", "follow them again").exception();
    }
    patience.pause(failure);
  }

  private void disconnect() {
    Sse old = stream;
    stream = null;
    if (old != null) {
      old.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }
}
