package dev.isola.server.api;

import dev.isola.engine.api.health.Readiness;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.OpenApi;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Routes for health, readiness, metrics and the OpenAPI document. */
record SystemRoutes(ServerContext context, Supplier<List<Route>> table, String version) {
  static final String OPENAPI = "/api/v1/openapi.json";

  private static final Shape OK =
      new Shape.Obj(Field.required("status", Shapes.WORD, "ok or ready").example("ok"))
          .named("Status");

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/healthz", "health", "Liveness check.")
            .withoutKey()
            .answers(Response.json(200, OK))
            .handledBy(exchange -> exchange.json(200, Map.of("status", "ok"))),
        Route.of(
                "GET",
                "/readyz",
                "ready",
                "Readiness check: 200 if an allowed provider is healthy and there is disk space,"
                    + " otherwise 503.")
            .withoutKey()
            .answers(Response.json(200, OK))
            .handledBy(this::ready),
        Route.of("GET", "/metrics", "metrics", "Returns metrics in the Prometheus text format.")
            .answers(Response.of("text/plain", "metrics"))
            .handledBy(this::metrics),
        Route.of("GET", OPENAPI, "openapi", "Returns this OpenAPI document.")
            .withoutKey()
            .answers(
                new Response(
                    200, "application/json", Optional.of(new AnyObjectShape()), "OpenAPI 3.1"))
            .handledBy(exchange -> exchange.json(200, OpenApi.describe(table.get(), version))));
  }

  /**
   * Reports readiness without waiting. The response contains no details, because no key is
   * required.
   */
  private void ready(Exchange exchange) throws IOException {
    ServerContext.Components parts = context.current().orElseThrow(ServerContext::unavailable);
    Readiness readiness = parts.engine().readiness();
    if (readiness.isShortOfDisk()) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "a disk of the server is full, or has less space than creates leave free",
              "destroy sandboxes, remove snapshots or otherwise free disk space; the log of the"
                  + " server names the disk")
          .with(RateLimiter.RETRY_AFTER, "5")
          .exception();
    }
    if (!readiness.isReady()) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "no provider that the configuration allows is healthy",
              "run 'isola doctor', or see /api/v1/providers with an API key")
          .with(RateLimiter.RETRY_AFTER, "5")
          .exception();
    }
    exchange.json(200, Map.of("status", "ready"));
  }

  private void metrics(Exchange exchange) throws IOException {
    byte[] text = context.engine().scrapeMetrics().getBytes(StandardCharsets.UTF_8);
    try (OutputStream out =
        exchange.begin(
            200,
            "text/plain; version=0.0.4; charset=utf-8",
            Map.of("Content-Length", Integer.toString(text.length)))) {
      out.write(text);
    }
  }
}
