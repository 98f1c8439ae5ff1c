package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.EventView;
import dev.isola.engine.event.EventLog;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Streams the events of sandboxes. */
record EventRoutes(ServerContext context) {
  private static final int BATCH_SIZE = 100;
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/events",
                "followEvents",
                "Streams events: spawn, ready, stateChange, resourceWarning, error, terminate. The"
                    + " id of an event is its number; a client that resumes with it misses no"
                    + " event.")
            .takes(
                Parameter.query("sandbox", Shapes.SANDBOX_ID, "only events of this sandbox"),
                Parameter.query(
                    "after", Shapes.COUNT, "only events after this number; default: new events"),
                Parameter.header("Last-Event-ID", Shapes.COUNT, "alternative to after"))
            .answers(Response.of("text/event-stream", "an endless stream of events"))
            .handledBy(this::follow));
  }

  private void follow(Exchange exchange) throws IOException {
    Optional<SandboxId> sandbox = exchange.query("sandbox").map(SandboxIds::of);
    EventLog events = context.engine().events();
    long number =
        exchange
            .header("Last-Event-ID")
            .or(() -> exchange.query("after"))
            .map(Long::parseLong)
            .orElseGet(events::lastNumber);
    try (SseResponse sse = SseResponse.begin(exchange)) {
      long lastSent = System.nanoTime();
      while (!exchange.isShuttingDown()) {
        for (EventView event : events.await(number, BATCH_SIZE, POLL_INTERVAL)) {
          number = event.number();
          if (sandbox.isEmpty() || sandbox.equals(event.sandbox())) {
            sse.send(event.type(), Long.toString(number), json(event));
            lastSent = System.nanoTime();
          }
        }
        if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
          sse.sendKeepalive();
          lastSent = System.nanoTime();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is shutting down
    }
  }

  private static Map<String, Object> json(EventView event) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("number", event.number());
    json.put("type", event.type());
    json.put("at", event.at().toString());
    event.sandbox().ifPresent(id -> json.put("sandbox", id.value()));
    json.put("data", Json.parseObject(event.data()));
    return json;
  }
}
