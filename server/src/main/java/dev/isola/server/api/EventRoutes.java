package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.event.EventLog;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Streams the events of sandboxes. */
record EventRoutes(ServerContext context) {
  private static final int BATCH_SIZE = 100;
  private static final int MAX_LAST = 10_000;
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/events",
                "followEvents",
                "Streams events. The id of an event is its number; a client that resumes with it"
                    + " misses no event. An id without an event is the position of the stream. A"
                    + " sandbox token is accepted if sandbox is given once and is its sandbox.")
            .acceptsSandboxTokens(Route.TokenAccess.QUERY)
            .takes(
                Parameter.query("sandbox", Shapes.SANDBOX_ID, "only events of these sandboxes")
                    .asRepeatable(),
                Parameter.query(
                        "type",
                        new Shape.Choice("EventType", EventLog.TYPES),
                        "only events of these types")
                    .asRepeatable(),
                Parameter.query(
                    "after", Shapes.COUNT, "only events after this number; default: new events"),
                Parameter.query(
                    "last",
                    new Shape.WholeNumber(1, MAX_LAST),
                    "begin with this many of the latest events of all sandboxes"),
                Parameter.query(
                    "follow",
                    Shapes.FLAG,
                    "false to end after the last event that exists now; default true"),
                Parameter.header("Last-Event-ID", Shapes.COUNT, "alternative to after"))
            .answers(Response.of("text/event-stream", "a stream of events, endless by default"))
            .handledBy(this::follow));
  }

  private void follow(Exchange exchange) throws IOException {
    Set<String> sandboxes = Set.copyOf(exchange.queries("sandbox"));
    Set<String> types = Set.copyOf(exchange.queries("type"));
    EventLog events = context.engine().events();
    boolean follows = !exchange.query("follow").equals(Optional.of("false"));
    long last = events.lastNumber();
    long number = start(exchange, last);
    try (SseResponse sse = SseResponse.begin(exchange)) {
      sse.sendPosition(Long.toString(number));
      long lastSent = System.nanoTime();
      while (!exchange.isShuttingDown() && (follows || number < last)) {
        List<EventView> batch = events.await(number, BATCH_SIZE, POLL_INTERVAL);
        if (batch.isEmpty() && !follows) {
          break; // the last event was removed meanwhile
        }
        for (EventView event : batch) {
          number = event.number();
          if (matches(event, sandboxes, types)) {
            sse.send(event.type(), Long.toString(number), json(event));
            lastSent = System.nanoTime();
          }
        }
        if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
          sse.sendPosition(Long.toString(number));
          lastSent = System.nanoTime();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is shutting down
    }
  }

  /** Returns the number after which the stream begins. */
  private static long start(Exchange exchange, long last) {
    return exchange
        .header("Last-Event-ID")
        .or(() -> exchange.query("after"))
        .map(Long::parseLong)
        .or(() -> exchange.query("last").map(count -> Math.max(0, last - Long.parseLong(count))))
        .orElse(last);
  }

  /** An empty set matches everything. */
  private static boolean matches(EventView event, Set<String> sandboxes, Set<String> types) {
    return (types.isEmpty() || types.contains(event.type()))
        && (sandboxes.isEmpty()
            || event.sandbox().map(SandboxId::value).filter(sandboxes::contains).isPresent());
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
