package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Routes for the health, the environment and the resource usage of a sandbox. */
record EnvdStatusRoutes(ServerContext context, ApiKeys keys, SandboxAccess access) {
  private static final Duration SAMPLE = Duration.ofMillis(100);
  private static final long MIB = 1 << 20;

  List<Route> routes() {
    return List.of(
        route("health", "Health", "Reports whether the sandbox is running.")
            .withoutKey()
            .handledBy(this::health),
        route("envs", "Environment", "Returns the environment of every command.")
            .answers(Response.of("application/json", "names and values"))
            .handledBy(this::environment),
        route("metrics", "Metrics", "Returns the resource usage of the sandbox.")
            .answers(Response.of("application/json", "resource usage"))
            .handledBy(this::metrics));
  }

  private static Route route(String path, String name, String summary) {
    return Route.of("GET", EnvdRoutes.PREFIX + "{id}/" + path, "envd" + name, summary)
        .needs(Scope.USE)
        .acceptsSandboxTokens()
        .of(E2bDialect.ENVD);
  }

  /**
   * Reports the health of a sandbox. No token is required; without one the response comes from the
   * ledger, so that an unauthenticated request neither resumes a sandbox nor keeps it alive.
   */
  private void health(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    boolean known =
        exchange
            .header(E2bCredentials.ENVD_HEADER)
            .filter(token -> keys.tokens().isStableToken(id, E2bCredentials.ENVD, token))
            .isPresent();
    if (known) {
      Sandbox sandbox = access.sandbox(exchange);
      if (access.hasEnded(sandbox)) {
        throw Fault.of(
                ErrorCode.SANDBOX_DESTROYED,
                "sandbox " + id + " is being destroyed",
                "create a new sandbox")
            .sandbox(id)
            .exception();
      }
      exchange.noContent();
      return;
    }
    SandboxView entry = context.sandboxes().view(id);
    if (entry.state() != SandboxState.RUNNING) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + entry.id() + " is " + entry.state().name().toLowerCase(Locale.ROOT),
              "resume the sandbox")
          .sandbox(entry.id())
          .exception();
    }
    exchange.noContent();
  }

  private SandboxSpec spec(Exchange exchange) {
    return context.sandboxes().view(exchange.sandbox()).request().spec();
  }

  private void environment(Exchange exchange) throws IOException {
    access.sandbox(exchange);
    Map<String, String> all = new LinkedHashMap<>(ProcessRoutes.SANDBOX_ENV);
    all.putAll(spec(exchange).env());
    exchange.json(200, all);
  }

  private void metrics(Exchange exchange) throws Exception {
    UsageReporting reporting =
        access.requireCapability(access.sandbox(exchange), UsageReporting.class);
    UsageReporting.Usage before = reporting.usage();
    long startNanos = System.nanoTime();
    Thread.sleep(SAMPLE);
    UsageReporting.Usage now = reporting.usage();
    double busy = now.cpuTime().minus(before.cpuTime()).toNanos();
    ResourceLimits limits = spec(exchange).limits();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("ts", Instant.now().getEpochSecond());
    json.put("cpu_count", (long) Math.max(1, Math.ceil(limits.cpu())));
    json.put("cpu_used_pct", Math.round(1000 * busy / (System.nanoTime() - startNanos)) / 10.0);
    json.put("mem_total", limits.memoryMb() * MIB);
    json.put("mem_total_mib", limits.memoryMb());
    json.put("mem_used", now.memoryBytes());
    json.put("mem_used_mib", now.memoryBytes() / MIB);
    json.put("mem_cache", 0);
    json.put("disk_used", now.diskBytes().orElse(0));
    json.put("disk_total", limits.diskMb() * MIB);
    exchange.json(200, json);
  }
}
