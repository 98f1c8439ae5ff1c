package dev.isola.server.api;

import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.CpuLoad;
import dev.isola.engine.api.RecentError;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.SandboxHealth;
import dev.isola.engine.api.SandboxStatus;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.DecimalShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Routes that observe a sandbox: its status, its usage, and waiting for a state. */
record StatusRoutes(ServerContext context) {
  private static final String TEMPLATE = "/api/v1/sandboxes/{id}";
  private static final long MAX_WAIT_MS = 60_000;
  private static final long DEFAULT_WAIT_MS = 30_000;

  /** How often a waiting request checks whether the server is shutting down. */
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

  /** The time between two events of a stream of the status. */
  private static final Duration STATUS_INTERVAL = Duration.ofSeconds(2);

  private static final Shape.Obj USAGE =
      new Shape.Obj(
          Field.required("cpuMs", Shapes.COUNT, "CPU time since the start").example(120),
          Field.required("memoryBytes", Shapes.COUNT, "current memory usage").example(1_048_576),
          Field.required("memoryPeakBytes", Shapes.COUNT, "peak memory usage").example(2_097_152),
          Field.optional("diskBytes", Shapes.COUNT, "size of written files, if measured"),
          Field.optional("receivedBytes", Shapes.COUNT, "bytes received over its network"),
          Field.optional("sentBytes", Shapes.COUNT, "bytes sent over its network"),
          Field.required("processes", Shapes.COUNT, "number of running processes"),
          Field.required("uptimeMs", Shapes.COUNT, "time since the start").example(5000));

  private static final Shape ERROR =
      new Shape.Obj(
              Field.required("at", Shapes.TIME, "time of the failure"),
              Field.required("code", Shapes.WORD, "error code").example("EXEC_TIMEOUT"),
              Field.required("operation", Shapes.WORD, "what failed").example("execution"),
              Field.required("message", Shapes.TEXT, "one sentence; *** for keys with scope read")
                  .example("a command was killed at its timeout of 200 ms"))
          .named("SandboxError");

  private static final Shape.Obj STATUS =
      new Shape.Obj(
              Field.required("id", Shapes.SANDBOX_ID, "sandbox id"),
              Field.required("runtimeId", Shapes.SANDBOX_ID, "the same as id"),
              Field.required("provider", Shapes.WORD, "provider that created it")
                  .example("bubblewrap"),
              Field.required("runtime", Shapes.WORD, "the same as provider").example("bubblewrap"),
              Field.optional(
                  "containerId", Shapes.WORD, "id of its container at a container engine"),
              Field.required("state", Shapes.STATE, "lifecycle state").example("running"),
              Field.required(
                      "health",
                      new Shape.Choice(
                          "SandboxHealth",
                          Stream.of(SandboxHealth.values()).map(JsonViews::wireName).toList()),
                      "healthy: it is running and answered; unhealthy: it failed or did not answer;"
                          + " unknown: it is not running or cannot be probed")
                  .example("healthy"),
              Field.optional(
                  "reason", Shapes.TEXT, "why it is not healthy; *** for keys with scope read"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("lastActivity", Shapes.TIME, "time of last use, to the second"),
              Field.optional(
                  "usage",
                  USAGE
                      .and(
                          Field.optional(
                              "cpuPercent",
                              new DecimalShape(0, Double.MAX_VALUE),
                              "CPU usage in percent of one processor, over cpuIntervalMs"),
                          Field.optional(
                              "cpuIntervalMs",
                              Shapes.COUNT,
                              "time between the two measurements of cpuPercent"))
                      .named("SandboxStatusUsage"),
                  "absent if it is not running or its provider does not measure"),
              Field.required(
                      "errors",
                      new Shape.ListOf(ERROR, RecentErrors.MAX_PER_SANDBOX),
                      "latest failures since the server started, oldest first")
                  .example(List.of()))
          .named("SandboxStatus");

  List<Route> routes() {
    return List.of(
        one(
                "/status",
                "getStatus",
                "Returns the state, health, usage and latest errors of a sandbox. Does not resume"
                    + " it and does not count as use.")
            .answers(Response.json(200, STATUS))
            .handledBy(
                exchange ->
                    exchange.json(200, json(context.sandboxes().status(exchange.sandbox())))),
        one(
                "/status/stream",
                "followStatus",
                "Streams the status of a sandbox as events status, until it is destroyed. Does not"
                    + " resume it and does not count as use.")
            .answers(Response.of("text/event-stream", "the status, every two seconds"))
            .handledBy(this::follow),
        one("/usage", "getUsage", "Returns the resource usage of a sandbox.")
            .answers(Response.json(200, USAGE.named("SandboxUsage")))
            .handledBy(this::usage),
        one(
                "/wait",
                "waitForState",
                "Waits until a sandbox is in one of the given states. Answers with"
                    + " DEADLINE_EXCEEDED after timeoutMs, and at once with ILLEGAL_STATE if it can"
                    + " no longer reach any of them. Counts as a stream of the key.")
            .takes(
                Parameter.query("state", Shapes.STATE, "a state to wait for")
                    .asRequired()
                    .asRepeatable(),
                Parameter.query(
                    "timeoutMs",
                    new Shape.WholeNumber(0, MAX_WAIT_MS),
                    "the longest time to wait; default 30000"))
            .answers(Response.json(200, SandboxShapes.SANDBOX).afterWaiting())
            .handledBy(this::await));
  }

  private static Route one(String rest, String name, String summary) {
    return Route.of("GET", TEMPLATE + rest, name, summary).acceptsSandboxTokens().takes(Shapes.ID);
  }

  private static Map<String, Object> json(SandboxStatus status) {
    SandboxView view = status.view();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", view.id().value());
    json.put("runtimeId", view.id().value());
    json.put("provider", view.provider());
    json.put("runtime", view.provider());
    status.containerId().ifPresent(container -> json.put("containerId", container));
    json.put("state", JsonViews.wireName(view.state()));
    json.put("health", JsonViews.wireName(status.health()));
    status
        .reason()
        .ifPresent(reason -> json.put("reason", Confidential.content(reason, Scope.USE)));
    json.put("createdAt", view.createdAt().toString());
    json.put("lastActivity", view.lastActivity().toString());
    status.usage().ifPresent(usage -> json.put("usage", json(usage, status.cpu())));
    json.put("errors", status.errors().stream().map(StatusRoutes::json).toList());
    return json;
  }

  private static Map<String, Object> json(RecentError error) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("at", error.at().toString());
    json.put("code", error.code().name());
    json.put("operation", error.operation());
    json.put("message", Confidential.content(error.message(), Scope.USE));
    return json;
  }

  private static Map<String, Object> json(Usage usage, Optional<CpuLoad> cpu) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("cpuMs", usage.cpuTime().toMillis());
    json.put("memoryBytes", usage.memoryBytes());
    json.put("memoryPeakBytes", usage.memoryPeakBytes());
    usage.diskBytes().ifPresent(bytes -> json.put("diskBytes", bytes));
    usage.receivedBytes().ifPresent(bytes -> json.put("receivedBytes", bytes));
    usage.sentBytes().ifPresent(bytes -> json.put("sentBytes", bytes));
    json.put("processes", usage.processes());
    json.put("uptimeMs", usage.uptime().toMillis());
    cpu.ifPresent(
        load -> {
          json.put("cpuPercent", Math.round(load.percent() * 10) / 10.0);
          json.put("cpuIntervalMs", load.interval().toMillis());
        });
    return json;
  }

  private void follow(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    SandboxStatus status = context.sandboxes().status(id);
    try (SseResponse sse = SseResponse.begin(exchange);
        var _ = exchange.interruptOnDisconnect()) {
      while (!exchange.isShuttingDown()) {
        sse.send("status", Instant.now().toString(), json(status));
        if (status.view().state() == SandboxState.DESTROYED) {
          return;
        }
        Thread.sleep(STATUS_INTERVAL);
        status = context.sandboxes().status(id);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
    }
  }

  private void usage(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    UsageReporting reporting =
        context
            .sandboxes()
            .get(id)
            .as(UsageReporting.class)
            .orElseThrow(
                () ->
                    Capability.unsupported(
                        context.sandboxes().view(id).provider(), "usage-reporting"));
    exchange.json(200, json(reporting.usage(), Optional.empty()));
  }

  private void await(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    Set<SandboxState> states =
        exchange.queries("state").stream()
            .map(word -> SandboxState.valueOf(word.toUpperCase(Locale.ROOT)))
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(SandboxState.class)));
    Duration timeout =
        Duration.ofMillis(exchange.query("timeoutMs").map(Long::parseLong).orElse(DEFAULT_WAIT_MS));
    Optional<SandboxView> reached;
    try (var _ = exchange.interruptOnDisconnect()) {
      reached = await(exchange, id, states, timeout);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
      throw ServerContext.unavailable();
    }
    exchange.json(200, JsonViews.sandbox(reached.orElseThrow(() -> timedOut(id, states, timeout))));
  }

  private Optional<SandboxView> await(
      Exchange exchange, SandboxId id, Set<SandboxState> states, Duration timeout)
      throws InterruptedException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      long left = Math.max(0, deadline.leftNanos());
      Optional<SandboxView> reached =
          context
              .sandboxes()
              .awaitState(id, states, Duration.ofNanos(Math.min(left, CHECK_INTERVAL.toNanos())));
      if (reached.isPresent() || left == 0) {
        return reached;
      }
      if (exchange.isShuttingDown()) {
        throw ServerContext.unavailable();
      }
    }
  }

  private SandboxException timedOut(SandboxId id, Set<SandboxState> states, Duration timeout) {
    String state = JsonViews.wireName(context.sandboxes().view(id).state());
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "sandbox "
                + id
                + " is "
                + state
                + " and did not become "
                + String.join(" or ", JsonViews.wireNames(states))
                + " within "
                + timeout.toMillis()
                + " ms",
            "repeat the request to wait longer")
        .sandbox(id)
        .with("state", state)
        .exception();
  }
}
