package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

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
  private final EventResponse response;
  private long ticks;

  CallWait(Exchange exchange, RpcMessage message, RunningCalls.Call call, boolean modern) {
    this.exchange = exchange;
    this.call = call;
    this.modern = modern;
    progressToken =
        Optional.ofNullable(message.meta().get("progressToken"))
            .filter(token -> token instanceof String || token instanceof Number);
    response = new EventResponse(exchange);
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
    if (!response.acceptsEvents()) {
      return;
    }
    ticks++;
    if (progressToken.isPresent()) {
      response.send(
          Json.bytes(
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
                      message))));
    } else {
      response.keepAlive();
    }
  }

  /** Sends the response, after the events if there were any. */
  void answer(Map<String, Object> json) throws IOException {
    response.answer(json);
  }
}
