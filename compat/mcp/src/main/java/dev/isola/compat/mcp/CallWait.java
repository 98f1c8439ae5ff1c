package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.server.route.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The response to a call that may wait. A call that ends soon is answered with JSON. One that waits
 * becomes a stream of events, if the client accepts one, so that proxies do not end the connection
 * and clients see progress.
 */
final class CallWait {
  /** How often {@link #tick} is called. */
  static final Duration INTERVAL = Duration.ofSeconds(5);

  private final Exchange exchange;
  private final RunningCalls.Call call;
  private final boolean modern;
  private final Optional<Object> progressToken;
  private final boolean acceptsEvents;
  private @Nullable OutputStream events;
  private long ticks;

  CallWait(Exchange exchange, RpcMessage message, RunningCalls.Call call, boolean modern) {
    this.exchange = exchange;
    this.call = call;
    this.modern = modern;
    progressToken =
        Optional.ofNullable(message.meta().get("progressToken"))
            .filter(token -> token instanceof String || token instanceof Number);
    acceptsEvents = exchange.header("Accept").orElse("").contains("text/event-stream");
  }

  /** Returns whether the interrupt of this thread means that the client cancelled the call. */
  boolean isCancelled() {
    // Before 2026-07-28 a client that disconnects has not cancelled anything.
    return call.isCancelled() || (modern && !exchange.isShuttingDown());
  }

  /**
   * Reports that the call still waits.
   *
   * @throws IOException if the client has disconnected
   */
  void tick(String message) throws IOException {
    if (!acceptsEvents) {
      return;
    }
    ticks++;
    if (progressToken.isPresent()) {
      send(
          Json.object(
              "jsonrpc",
              "2.0",
              "method",
              "notifications/progress",
              "params",
              Json.object(
                  "progressToken",
                  progressToken.get(),
                  "progress",
                  ticks * INTERVAL.toSeconds(),
                  "message",
                  message)));
    } else {
      write(": \n\n".getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Sends the response, after the events if there were any. */
  void answer(Map<String, Object> response) throws IOException {
    OutputStream out = events;
    if (out == null) {
      exchange.json(200, response);
      return;
    }
    send(response);
    out.close();
  }

  private void send(Map<String, Object> message) throws IOException {
    ByteArrayOutputStream event = new ByteArrayOutputStream();
    event.writeBytes("event: message\ndata: ".getBytes(StandardCharsets.UTF_8));
    event.writeBytes(Json.bytes(message)); // contains no line breaks
    event.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
    write(event.toByteArray());
  }

  private void write(byte[] bytes) throws IOException {
    OutputStream out = events;
    if (out == null) {
      out = exchange.begin(200, "text/event-stream", Map.of("X-Accel-Buffering", "no"));
      events = out;
    }
    out.write(bytes);
    out.flush();
  }
}
