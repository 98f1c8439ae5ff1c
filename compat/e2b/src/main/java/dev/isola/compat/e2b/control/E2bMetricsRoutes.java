package dev.isola.compat.e2b.control;

import dev.isola.engine.api.EventView;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Routes for resource usage and for the event log of a sandbox. */
public record E2bMetricsRoutes(ServerContext context) {
  /** The time between two samples of the CPU time. */
  private static final Duration SAMPLE_INTERVAL = Duration.ofMillis(50);

  private static final int MAX_EVENTS = 1000;
  private static final int MAX_EVENTS_READ = 100_000;

  public List<Route> routes() {
    return List.of(
        E2bSandboxRoutes.sandboxRoute(
                "GET", "/metrics", "e2bMetrics", "Returns the resource usage of a sandbox.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("start", new Shape.WholeNumber(0, Long.MAX_VALUE), "Unix seconds"),
                Parameter.query("end", new Shape.WholeNumber(0, Long.MAX_VALUE), "Unix seconds"))
            .handledBy(this::metrics),
        E2bSandboxRoutes.sandboxRoute(
                "GET", "/logs", "e2bLogsFirst", "Returns the events of a sandbox.")
            .needs(Scope.READ)
            .answeredByAnyServer()
            .handledBy(this::logs),
        E2bSandboxRoutes.route(
                "GET", "/v2/sandboxes/{id}/logs", "e2bLogs", "Returns the events of a sandbox.")
            .needs(Scope.READ)
            .answeredByAnyServer()
            .handledBy(this::logs));
  }

  /** Returns one sample, taken now. Past samples are not stored. */
  private void metrics(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    Instant now = Instant.now();
    long end = exchange.query("end").map(Long::parseLong).orElse(Long.MAX_VALUE);
    if (E2bSandboxView.isSuspended(entry) || end < now.getEpochSecond()) {
      exchange.json(200, List.of());
      return;
    }
    UsageReporting reporting =
        context
            .sandboxes()
            .get(entry.id())
            .as(UsageReporting.class)
            .orElseThrow(() -> Capability.unsupported(entry.provider(), "usage-reporting"));
    exchange.json(200, List.of(measure(reporting, limits(entry), now)));
  }

  private static ResourceLimits limits(SandboxView entry) {
    return entry.request().spec().limits();
  }

  private static Map<String, Object> measure(
      UsageReporting reporting, ResourceLimits limits, Instant now) {
    UsageReporting.Usage first = reporting.usage();
    long startNanos = System.nanoTime();
    pause();
    UsageReporting.Usage second = reporting.usage();
    double cpuPercent =
        100.0
            * second.cpuTime().minus(first.cpuTime()).toNanos()
            / Math.max(1, System.nanoTime() - startNanos);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("timestamp", now.toString());
    json.put("timestampUnix", now.getEpochSecond());
    json.put("cpuCount", Math.max(1, (int) Math.round(limits.cpu())));
    json.put("cpuUsedPct", Math.max(0, Math.round(cpuPercent * 100) / 100.0));
    json.put("memUsed", second.memoryBytes());
    json.put("memTotal", limits.memoryMb() << 20);
    json.put("memCache", 0);
    json.put("diskUsed", second.diskBytes().orElse(0L));
    json.put("diskTotal", limits.diskMb() << 20);
    return json;
  }

  private static void pause() {
    try {
      Thread.sleep(SAMPLE_INTERVAL);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void logs(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    List<Map<String, Object>> lines = new ArrayList<>();
    List<Map<String, Object>> entries = new ArrayList<>();
    for (EventView event : events(entry)) {
      String time = event.at().toString();
      lines.add(Map.of("timestamp", time, "line", event.type() + " " + event.data()));
      entries.add(
          Map.of(
              "timestamp",
              time,
              "level",
              "info",
              "message",
              event.type(),
              "fields",
              Map.of("data", event.data())));
    }
    exchange.json(200, Map.of("logs", lines, "logEntries", entries));
  }

  private List<EventView> events(SandboxView entry) {
    List<EventView> found = new ArrayList<>();
    long number = 0;
    for (int read = 0; read < MAX_EVENTS_READ && found.size() < MAX_EVENTS; ) {
      List<EventView> page = context.engine().events().after(number, MAX_EVENTS);
      if (page.isEmpty()) {
        break;
      }
      page.stream()
          .filter(event -> event.sandbox().filter(entry.id()::equals).isPresent())
          .forEach(found::add);
      number = page.getLast().number();
      read += page.size();
    }
    return found;
  }
}
