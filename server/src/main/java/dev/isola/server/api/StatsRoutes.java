package dev.isola.server.api;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.DurationPercentiles;
import dev.isola.engine.api.EngineSample;
import dev.isola.engine.api.HealthChange;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.statistics.StatisticsSampler;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Streams samples of the state of the installation, for charts. */
record StatsRoutes(ServerContext context) {
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/stats",
                "followStats",
                "Streams statistics: the event history with samples of the last hour and changes of"
                    + " the health of providers, then an event sample every 2 s.")
            .answers(Response.of("text/event-stream", "an endless stream of samples"))
            .handledBy(this::follow));
  }

  private void follow(Exchange exchange) throws IOException {
    StatisticsSampler sampler = context.engine().statistics();
    try (StatisticsSampler.Subscription _ = sampler.subscribe();
        SseResponse sse = SseResponse.begin(exchange)) {
      StatisticsSampler.History history = sampler.history();
      long number = history.lastNumber();
      sse.send("history", Long.toString(number), json(history));
      long lastSent = System.nanoTime();
      while (!exchange.isShuttingDown()) {
        Optional<EngineSample> sample = sampler.await(number, CHECK_INTERVAL);
        if (sample.isPresent()) {
          number = sample.get().number();
          sse.send("sample", Long.toString(number), live(sample.get()));
          lastSent = System.nanoTime();
        } else if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
          sse.sendKeepalive();
          lastSent = System.nanoTime();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is shutting down
    }
  }

  private static Map<String, Object> json(StatisticsSampler.History history) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("intervalSeconds", StatisticsSampler.HISTORY_INTERVAL.toSeconds());
    json.put("samples", history.samples().stream().map(StatsRoutes::json).toList());
    List<Map<String, Object>> health = new ArrayList<>();
    history
        .health()
        .forEach(
            (name, changes) -> {
              Map<String, Object> provider = new LinkedHashMap<>();
              provider.put("name", name);
              provider.put("changes", changes.stream().map(StatsRoutes::json).toList());
              health.add(provider);
            });
    json.put("health", health);
    return json;
  }

  private static Map<String, Object> json(HealthChange change) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("at", change.at().toString());
    putHealth(change.health(), json);
    return json;
  }

  private static void putHealth(Health health, Map<String, Object> json) {
    switch (health) {
      case Health.Healthy _ -> json.put("status", "healthy");
      case Health.Degraded(String reason, _) -> {
        json.put("status", "degraded");
        json.put("reason", reason);
      }
      case Health.Unhealthy(String reason, _) -> {
        json.put("status", "unhealthy");
        json.put("reason", reason);
      }
    }
  }

  private static Map<String, Object> json(EngineSample sample) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("at", sample.at().toString());
    Map<String, Object> sandboxes = new LinkedHashMap<>();
    for (SandboxState state : SandboxState.values()) {
      if (state != SandboxState.DESTROYED) {
        String name = state == SandboxState.ERROR ? "failed" : JsonViews.wireName(state);
        sandboxes.put(name, sample.sandboxes().getOrDefault(state, 0L));
      }
    }
    json.put("sandboxes", sandboxes);
    json.put("expiringSoon", sample.expiringSoon());
    json.put("warm", Map.of("ready", sample.warmReady(), "target", sample.warmTarget()));
    json.put("createsPerMinute", sample.createsInLastMinute());
    json.put("createMs", sample.create().map(StatsRoutes::json).orElse(Map.of()));
    json.put("execMs", sample.execution().map(StatsRoutes::json).orElse(Map.of()));
    json.put("fallbacks", sample.fallbacks());
    json.put("egressDenials", sample.egressDenials());
    json.put("requestsPerSecond", rounded(sample.requestsPerSecond()));
    return json;
  }

  /** Adds what is too large for every sample of the history. */
  private static Map<String, Object> live(EngineSample sample) {
    Map<String, Object> json = json(sample);
    json.put("providers", sample.providers().stream().map(StatsRoutes::json).toList());
    json.put("limits", json(sample.capacity()));
    return json;
  }

  private static Map<String, Object> json(DurationPercentiles percentiles) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("p50", rounded(percentiles.p50()));
    json.put("p95", rounded(percentiles.p95()));
    json.put("p99", rounded(percentiles.p99()));
    return json;
  }

  private static double rounded(double value) {
    return Math.round(value * 10) / 10.0;
  }

  private static Map<String, Object> json(ProviderStatus status) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", status.name());
    putHealth(status.health(), json);
    return json;
  }

  private static Map<String, Object> json(CapacityUsage usage) {
    Map<String, Object> memory = new LinkedHashMap<>();
    memory.put("used", usage.reserved().memoryMb());
    if (usage.capacity().memoryMb() < Resources.UNLIMITED) {
      memory.put("max", usage.capacity().memoryMb());
    }
    Map<String, Object> cpu = new LinkedHashMap<>();
    cpu.put("used", usage.reserved().milliCpu() / 1000.0);
    if (usage.capacity().milliCpu() < Resources.UNLIMITED) {
      cpu.put("max", usage.capacity().milliCpu() / 1000.0);
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("memoryMb", memory);
    json.put("cpu", cpu);
    json.put("waiting", usage.waiting());
    return json;
  }
}
