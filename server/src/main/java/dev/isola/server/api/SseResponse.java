package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.server.auth.Disclosure;
import dev.isola.server.route.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * A stream of server-sent events. Each event is sent at once; writing blocks while the client is
 * slow.
 */
final class SseResponse implements AutoCloseable {
  /** How often a keepalive is sent, so that a disconnected client is detected. */
  static final Duration KEEPALIVE_INTERVAL = Duration.ofSeconds(10);

  private final OutputStream out;
  private final Disclosure disclosure;

  private SseResponse(OutputStream out, Disclosure disclosure) {
    this.out = out;
    this.disclosure = disclosure;
  }

  static SseResponse begin(Exchange exchange) throws IOException {
    SseResponse sse =
        new SseResponse(
            exchange.begin(
                200,
                "text/event-stream",
                Map.of("X-Accel-Buffering", "no", "Cache-Control", "no-store")),
            new Disclosure(exchange.key()));
    sse.sendKeepalive(); // Send the response head now rather than with the first event.
    return sse;
  }

  void send(String event, String id, Map<String, ?> data) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    text.writeBytes(
        ("event: " + event + "\nid: " + id + "\ndata: ").getBytes(StandardCharsets.UTF_8));
    text.writeBytes(Json.bytes(disclosure.of(data))); // contains no line breaks
    text.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
    out.write(text.toByteArray());
    out.flush();
  }

  /**
   * Sends an id without an event, which sets the position of a client that reconnects, and serves
   * as a keepalive.
   */
  void sendPosition(String id) throws IOException {
    out.write(("id: " + id + "\n\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Sends an empty comment. */
  void sendKeepalive() throws IOException {
    out.write(": \n\n".getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
