package dev.isola.server.api;

import dev.isola.server.access.ReadableFiles;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Streams file changes. */
record WatchRoutes(ServerContext context) {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/sandboxes/{id}/watch",
                "watchFiles",
                "Streams changes in a directory as events: watching, once the watch is established;"
                    + " change; overflow, if changes were lost; gone, if the directory was removed;"
                    + " error.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                Parameter.query("path", Shapes.PATH, "the directory").asRequired(),
                Parameter.query("recursive", Shapes.FLAG, "include subdirectories; default false"))
            .answers(Response.of("text/event-stream", "an endless stream of changes"))
            .handledBy(this::watch));
  }

  private void watch(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    String path = exchange.query("path").orElseThrow();
    boolean recursive = exchange.query("recursive").map(Boolean::parseBoolean).orElse(false);
    Sandbox sandbox = context.sandboxes().get(id);
    String folder = ReadableFiles.of(exchange.key(), sandbox.files()).permitted(path);
    Watching watching =
        sandbox
            .as(Watching.class)
            .orElseThrow(
                () -> Capability.unsupported(context.sandboxes().view(id).provider(), "watching"));
    try (Watch watch = watching.watch(folder, recursive);
        SseResponse sse = SseResponse.begin(exchange)) {
      sse.send("watching", "0", Map.of("path", path, "recursive", recursive));
      follow(exchange, watch, sse);
    }
  }

  private static void follow(Exchange exchange, Watch watch, SseResponse sse) throws IOException {
    long number = 0;
    long lastSent = System.nanoTime();
    while (!exchange.isShuttingDown() && !watch.ended()) {
      Optional<FileChange> change;
      try {
        change = watch.next(POLL_INTERVAL);
      } catch (SandboxException e) {
        sse.send(
            "error",
            Long.toString(number),
            Map.of(
                "code", e.code().name(),
                "detail", e.fault().problem(),
                "remedy", e.fault().remedy()));
        return;
      }
      if (change.isPresent()) {
        number++;
        sse.send(event(change.get().kind()), Long.toString(number), json(change.get()));
        lastSent = System.nanoTime();
      } else if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
        sse.sendKeepalive();
        lastSent = System.nanoTime();
      }
    }
  }

  private static String event(FileChange.Kind kind) {
    return switch (kind) {
      case OVERFLOW -> "overflow";
      case ROOT_GONE -> "gone";
      case CREATED, MODIFIED, REMOVED, MOVED_FROM, MOVED_TO, ATTRIBUTES -> "change";
    };
  }

  private static Map<String, Object> json(FileChange change) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("kind", JsonViews.wireName(change.kind()));
    json.put("path", change.path());
    json.put("folder", change.folder());
    return json;
  }
}
