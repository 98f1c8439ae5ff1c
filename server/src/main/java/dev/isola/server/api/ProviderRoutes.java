package dev.isola.server.api;

import dev.isola.engine.Engine;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Routes for the providers, their remaining capacity, and the warm pool. */
record ProviderRoutes(ServerContext context) {
  private static final Shape OBJECT = new Shape.Document(Map.of("type", "object"));
  private static final Shape RESOURCES =
      new Shape.Obj(
          Field.required("memoryMb", Shapes.COUNT, "memory"),
          Field.required("cpu", new Shape.Decimal(), "processors"));
  private static final Shape HOST =
      new Shape.Obj(
          Field.required("processors", Shapes.COUNT, "in all"),
          Field.required("memoryMb", Shapes.COUNT, "in all"),
          Field.optional("freeMemoryMb", Shapes.COUNT, "to be had without swapping"),
          Field.optional("diskMb", Shapes.COUNT, "where sandboxes write, in all"),
          Field.optional("freeDiskMb", Shapes.COUNT, "where sandboxes write"));
  private static final Shape.Obj BRIEF =
      new Shape.Obj(
          Field.required("name", Shapes.WORD, "stable and unique"),
          Field.optional("type", Shapes.WORD, "the type that it is an instance of"),
          Field.optional(
              "region", Shapes.WORD, "a label of the operator that requests can ask for"),
          Field.required(
              "status",
              new Shape.Choice(List.of("healthy", "degraded", "unhealthy")),
              "whether it works; a degraded one is chosen after all healthy ones"),
          Field.optional("reason", Shapes.TEXT, "what is broken"),
          Field.optional("fix", Shapes.TEXT, "what a person does about it"),
          Field.required("lastCheck", Shapes.TIME, "when it was last asked"),
          Field.required("active", Shapes.COUNT, "sandboxes that are not destroyed"),
          Field.required(
              "available",
              RESOURCES,
              "what may still be promised: of its own capacity, or of the one that it shares"),
          Field.required("promised", RESOURCES, "what is promised to its sandboxes"),
          Field.optional(
              "resources", HOST, "of the machine that runs its sandboxes, where it tells"));

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/api/v1/providers", "listProviders", "Describes the providers.")
            .answers(
                Response.json(
                    200,
                    list(
                        BRIEF.and(
                            Field.optional("isolation", Shapes.WORD, "how strong the wall is"),
                            Field.optional("summary", Shapes.TEXT, "in a sentence"),
                            Field.optional(
                                "capabilities", new Shape.ListOf(Shapes.WORD, 100), "what it can"),
                            Field.optional(
                                "forks",
                                new Shape.ListOf(Shapes.WORD, 10),
                                "kinds of forks: filesystem"),
                            Field.optional(
                                "enforcedLimits", new Shape.ListOf(Shapes.WORD, 100), "of a spec"),
                            Field.optional("networks", new Shape.ListOf(Shapes.WORD, 10), "modes"),
                            Field.optional("volumes", new Shape.ListOf(Shapes.WORD, 10), "types"),
                            Field.optional("startupMs", Shapes.COUNT, "an estimate"),
                            Field.optional("cleanup", Shapes.TEXT, "how all of a sandbox goes"),
                            Field.optional(
                                "requirements",
                                new Shape.ListOf(OBJECT, 100),
                                "on this machine")))))
            .handledBy(exchange -> answer(exchange, true)),
        Route.of(
                "GET",
                "/api/v1/agent/workspaces/providers",
                "listWorkspaceProviders",
                "Tells how the providers stand.")
            .answers(Response.json(200, list(BRIEF)))
            .handledBy(exchange -> answer(exchange, false)),
        Route.of("GET", "/api/v1/pool", "getPool", "Describes the warm pool.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                        Field.required("size", Shapes.COUNT, "how many are to be ready"),
                        Field.required("ready", Shapes.COUNT, "how many are"),
                        Field.required("hits", Shapes.COUNT, "orders that got a warm one"),
                        Field.required(
                            "misses",
                            new Shape.MapOf(Shapes.COUNT),
                            "orders that did not, by why"))))
            .handledBy(this::pool));
  }

  private static Shape list(Shape of) {
    return new Shape.Obj(Field.required("providers", new Shape.ListOf(of, 1000), "by name"));
  }

  private void answer(Exchange exchange, boolean all) throws IOException {
    ServerContext.Components parts = context.components();
    List<SandboxCount> counts = parts.engine().counts();
    exchange.json(
        200,
        Map.of(
            "providers",
            parts.health().awaitFirstProbes().stream()
                .map(
                    one ->
                        json(
                            one,
                            Optional.ofNullable(parts.registry().instances().get(one.name())),
                            counts,
                            parts.engine(),
                            all))
                .toList()));
  }

  private static Map<String, Object> json(
      ProviderStatus standing,
      Optional<ProviderInstance> instance,
      List<SandboxCount> counts,
      Engine engine,
      boolean all) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", standing.name());
    instance.ifPresent(one -> json.put("type", one.type()));
    instance.flatMap(ProviderInstance::region).ifPresent(region -> json.put("region", region));
    switch (standing.health()) {
      case Health.Healthy _ -> json.put("status", "healthy");
      case Health.Degraded(String reason, String fix) -> {
        json.put("status", "degraded");
        json.put("reason", reason);
        json.put("fix", fix);
      }
      case Health.Unhealthy(String reason, String fix) -> {
        json.put("status", "unhealthy");
        json.put("reason", reason);
        json.put("fix", fix);
      }
    }
    json.put("lastCheck", standing.at().toString());
    json.put(
        "active",
        counts.stream()
            .filter(count -> count.provider().equals(standing.name()))
            .mapToLong(SandboxCount::count)
            .sum());
    json.put("available", available(engine.capacityFor(standing.name()), standing.resources()));
    json.put("promised", json(engine.reserved(standing.name())));
    standing.resources().ifPresent(resources -> json.put("resources", json(resources)));
    if (all) {
      standing.info().ifPresent(info -> describe(info, json));
    }
    return json;
  }

  /**
   * Returns the remaining capacity. Where no capacity is configured, the resources of the host are
   * the limit.
   */
  private static Map<String, Object> available(
      CapacityPool.Usage usage, Optional<HostResources> host) {
    boolean anyMemory = usage.free().memoryMb() >= Resources.UNLIMITED / 2;
    boolean anyCpu = usage.capacity().milliCpu() == Resources.UNLIMITED;
    int processors =
        host.map(HostResources::processors)
            .orElseGet(() -> Runtime.getRuntime().availableProcessors());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(
        "memoryMb",
        anyMemory && host.isPresent()
            ? host.get().freeMemoryMb().orElse(host.get().memoryMb())
            : Math.max(0, usage.free().memoryMb()));
    json.put("cpu", anyCpu ? processors : Math.max(0, usage.free().milliCpu()) / 1000.0);
    return json;
  }

  private static Map<String, Object> json(Resources promised) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("memoryMb", promised.memoryMb());
    json.put("cpu", promised.milliCpu() / 1000.0);
    return json;
  }

  private static Map<String, Object> json(HostResources host) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("processors", host.processors());
    json.put("memoryMb", host.memoryMb());
    host.freeMemoryMb().ifPresent(free -> json.put("freeMemoryMb", free));
    host.diskMb().ifPresent(disk -> json.put("diskMb", disk));
    host.freeDiskMb().ifPresent(free -> json.put("freeDiskMb", free));
    return json;
  }

  private static void describe(ProviderInfo info, Map<String, Object> json) {
    json.put("isolation", JsonViews.wireName(info.isolation()));
    json.put("summary", info.summary());
    json.put("capabilities", info.capabilities().stream().map(Capability::idOf).sorted().toList());
    json.put("forks", ForkKind.of(info).stream().map(ForkKind::wireName).toList());
    json.put("enforcedLimits", JsonViews.wireNames(info.support().enforcedLimits()));
    json.put("networks", JsonViews.wireNames(info.support().networkModes()));
    json.put("volumes", JsonViews.wireNames(info.support().volumeTypes()));
    json.put("startupMs", info.startup().toMillis());
    json.put("cleanup", info.cleanup());
    json.put("requirements", info.prerequisites().stream().map(ProviderRoutes::json).toList());
  }

  private static Map<String, Object> json(Prerequisite requirement) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", requirement.name());
    json.put("necessary", requirement.necessary());
    json.put("present", requirement.present());
    json.put("detail", requirement.detail());
    json.put("fix", requirement.fix());
    return json;
  }

  private void pool(Exchange exchange) throws IOException {
    var pool = context.engine().pool();
    long ready =
        context.engine().counts().stream()
            .filter(SandboxCount::pooled)
            .mapToLong(SandboxCount::count)
            .sum();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("size", pool.size());
    json.put("ready", ready);
    json.put("hits", pool.stats().hits());
    json.put("misses", pool.stats().misses());
    exchange.json(200, json);
  }
}
