package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.server.route.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A response that is JSON, or becomes a stream of events with the first message before the answer.
 * Writing blocks while the client is slow.
 */
final class EventResponse {
  private static final byte[] KEEPALIVE = ": \n\n".getBytes(StandardCharsets.UTF_8);

  private final Exchange exchange;
  private final boolean acceptsEvents;
  private @Nullable OutputStream events;

  EventResponse(Exchange exchange) {
    this.exchange = exchange;
    acceptsEvents = exchange.header("Accept").orElse("").contains("text/event-stream");
  }

  boolean acceptsEvents() {
    return acceptsEvents;
  }

  /** Sends an event that the client ignores, so that proxies do not end the connection. */
  void keepAlive() throws IOException {
    write(KEEPALIVE);
  }

  /**
   * Sends a message before the answer.
   *
   * @param json without line breaks
   */
  void send(byte[] json) throws IOException {
    ByteArrayOutputStream event = new ByteArrayOutputStream();
    event.writeBytes("event: message\ndata: ".getBytes(StandardCharsets.UTF_8));
    event.writeBytes(json);
    event.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
    write(event.toByteArray());
  }

  /**
   * Sends the answer, after the events if there were any.
   *
   * @param status of an answer without events
   */
  void answer(int status, byte[] json) throws IOException {
    OutputStream out = events;
    if (out == null) {
      try (OutputStream body = exchange.begin(status, "application/json", Map.of())) {
        body.write(json);
      }
      return;
    }
    send(json);
    out.close();
  }

  /**
   * Sends the answer of a tool of Isola, which may contain a {@link
   * dev.isola.server.auth.Confidential} value.
   */
  void answer(Map<String, Object> json) throws IOException {
    if (events == null) {
      exchange.json(200, json);
    } else {
      answer(200, Json.bytes(json));
    }
  }

  /** Ends a stream of events without an answer. */
  void end() throws IOException {
    OutputStream out = events;
    if (out != null) {
      out.close();
    }
  }

  private void write(byte[] bytes) throws IOException {
    OutputStream out = events;
    if (out == null) {
      out =
          exchange.begin(
              200,
              "text/event-stream",
              Map.of("X-Accel-Buffering", "no", "Cache-Control", "no-store"));
      events = out;
    }
    out.write(bytes);
    out.flush();
  }
}
