package dev.isola.server.api;

import dev.isola.engine.Engine;
import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SnapshotKinds;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.DecimalShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.ApiVersion;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes for the providers, their remaining capacity, and the warm pool. */
record ProviderRoutes(ServerContext context) {
  private static final Shape REQUIREMENT =
      new Shape.Obj(
              Field.required("name", Shapes.TEXT, "name of the requirement").example("bwrap"),
              Field.required("necessary", Shapes.FLAG, "whether the provider needs it")
                  .example(true),
              Field.required("present", Shapes.FLAG, "whether the host has it").example(true),
              Field.required("detail", Shapes.TEXT, "what was found").example("0.8.0"),
              Field.required("fix", Shapes.TEXT, "what the operator should do").example(""))
          .named("ProviderRequirement");
  private static final Shape RESOURCES =
      new Shape.Obj(
              Field.required("memoryMb", Shapes.COUNT, "memory in MB").example(4096),
              Field.required("cpu", new DecimalShape(0, Double.MAX_VALUE), "number of CPUs"))
          .named("ProviderCapacity");
  private static final Shape AVAILABLE =
      new Shape.Obj(
              Field.optional("memoryMb", Shapes.COUNT, "memory in MB").example(4096),
              Field.optional("cpu", new DecimalShape(0, Double.MAX_VALUE), "number of CPUs")
                  .example(2))
          .named("ProviderAvailability");
  private static final Shape API_VERSION =
      new Shape.Choice(
          "ApiVersion", Stream.of(ApiVersion.values()).map(ApiVersion::wireName).toList());
  private static final Shape HOST =
      new Shape.Obj(
              Field.required("processors", Shapes.COUNT, "number of CPUs"),
              Field.required("memoryMb", Shapes.COUNT, "total memory in MB"),
              Field.optional(
                  "freeMemoryMb", Shapes.COUNT, "memory available without swapping, in MB"),
              Field.optional(
                  "diskMb", Shapes.COUNT, "size of the file system that holds sandboxes, in MB"),
              Field.optional("freeDiskMb", Shapes.COUNT, "free space for sandboxes, in MB"))
          .named("HostResources");
  private static final Shape.Obj STATUS =
      new Shape.Obj(
              Field.required("name", Shapes.WORD, "unique name of the provider instance")
                  .example("bubblewrap"),
              Field.optional("type", Shapes.WORD, "provider type"),
              Field.optional(
                  "region",
                  Shapes.WORD,
                  "region label, set by the operator, that requests can select"),
              Field.required(
                  "status",
                  new Shape.Choice("ProviderHealth", List.of("healthy", "degraded", "unhealthy")),
                  "health; degraded providers are selected after all healthy ones"),
              Field.optional("reason", Shapes.TEXT, "why it is not healthy"),
              Field.optional("fix", Shapes.TEXT, "what the operator should do"),
              Field.required("lastCheck", Shapes.TIME, "time of the last health check"),
              Field.required("active", Shapes.COUNT, "number of sandboxes that are not destroyed"),
              Field.required(
                  "available",
                  AVAILABLE,
                  "what further sandboxes can get: the rest of a configured capacity, or of the"
                      + " host that runs its sandboxes; a figure that is not known is absent"),
              Field.required("promised", RESOURCES, "resources reserved for its sandboxes"),
              Field.optional(
                  "resources", HOST, "resources of the host that runs its sandboxes, if known"))
          .named("ProviderStatus");

  private static final Shape PROVIDERS =
      versionedList(
          STATUS
              .and(
                  Field.optional("isolation", Shapes.ISOLATION, "isolation level"),
                  Field.optional(
                      "accelerated",
                      Shapes.FLAG,
                      "whether sandboxes run on the processors of the machine;"
                          + " false: software emulates them"),
                  Field.optional("summary", Shapes.TEXT, "one-sentence description"),
                  Field.optional("apiVersion", API_VERSION, "version of the specs it takes"),
                  Field.optional(
                      "capabilities", new Shape.ListOf(Shapes.WORD, 100), "supported capabilities"),
                  Field.optional(
                      "forks", new Shape.ListOf(Shapes.WORD, 10), "supported kinds of forks"),
                  Field.optional(
                      "snapshots",
                      new Shape.ListOf(Shapes.WORD, 10),
                      "supported kinds of snapshots"),
                  Field.optional(
                      "enforcedLimits",
                      new Shape.ListOf(Shapes.WORD, 100),
                      "limits that it enforces"),
                  Field.optional(
                      "networks", new Shape.ListOf(Shapes.WORD, 10), "supported network modes"),
                  Field.optional(
                      "volumes", new Shape.ListOf(Shapes.WORD, 10), "supported volume types"),
                  Field.optional("startupMs", Shapes.COUNT, "estimated startup time"),
                  Field.optional("cleanup", Shapes.TEXT, "how sandboxes are cleaned up"),
                  Field.optional(
                      "requirements",
                      new Shape.ListOf(REQUIREMENT, 100),
                      "requirements on the host"))
              .named("Provider"));

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/api/v1/providers", "listProviders", "Describes all providers.")
            .answers(Response.json(200, PROVIDERS))
            .handledBy(exchange -> answer(exchange, true)),
        Route.of(
                "POST",
                "/api/v1/providers/check",
                "checkProviders",
                "Probes all providers now instead of at the next interval, and describes them.")
            .needs(Scope.USE)
            .answers(Response.json(200, PROVIDERS))
            .handledBy(
                exchange -> {
                  context.components().health().refresh();
                  answer(exchange, true);
                }),
        Route.of(
                "GET",
                "/api/v1/agent/workspaces/providers",
                "listWorkspaceProviders",
                "Returns the health and the capacity of all providers.")
            .answers(Response.json(200, list("ProviderStatusList", STATUS)))
            .handledBy(exchange -> answer(exchange, false)),
        Route.of("GET", "/api/v1/pool", "getPool", "Describes the warm pool.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "size", Shapes.COUNT, "target number of ready sandboxes"),
                            Field.required("ready", Shapes.COUNT, "number of ready sandboxes"),
                            Field.required(
                                "hits", Shapes.COUNT, "number of requests served from the pool"),
                            Field.required(
                                "misses",
                                new Shape.MapOf(Shapes.COUNT),
                                "number of requests not served from the pool, by reason"))
                        .named("Pool")))
            .handledBy(this::pool));
  }

  private static Shape.Obj list(String name, Shape of) {
    return new Shape.Obj(Field.required("providers", new Shape.ListOf(of, 1000), "by name"))
        .named(name);
  }

  private static Shape versionedList(Shape of) {
    return list("", of)
        .and(
            Field.required("apiVersion", API_VERSION, "the version of specs in responses")
                .example(ApiVersion.CURRENT.wireName()),
            Field.required(
                "apiVersions",
                new Shape.ListOf(API_VERSION, ApiVersion.values().length),
                "the versions of specs in requests"))
        .named("ProviderList");
  }

  private void answer(Exchange exchange, boolean all) throws IOException {
    ServerContext.Components parts = context.components();
    List<SandboxCount> counts = parts.engine().sandboxes().counts();
    Map<String, Object> json = new LinkedHashMap<>();
    if (all) {
      json.put("apiVersion", ApiVersion.CURRENT.wireName());
      json.put("apiVersions", Stream.of(ApiVersion.values()).map(ApiVersion::wireName).toList());
    }
    json.put(
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
            .toList());
    exchange.json(200, json);
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
    json.put(
        "available",
        available(
            engine.capacityFor(standing.name()),
            standing.resources(),
            isLocal(instance, standing)));
    json.put("promised", json(engine.reserved(standing.name())));
    standing.resources().ifPresent(resources -> json.put("resources", json(resources)));
    if (all) {
      standing.info().ifPresent(info -> describe(info, json));
    }
    return json;
  }

  private static boolean isLocal(Optional<ProviderInstance> instance, ProviderStatus status) {
    return instance
        .map(one -> one.effectiveProfile(status.info()).hosting() == Hosting.LOCAL)
        .orElse(true);
  }

  /**
   * Returns what further sandboxes can get. Where no capacity is configured, the host that runs the
   * sandboxes is the limit; this machine is that host for local providers only.
   */
  private static Map<String, Object> available(
      CapacityUsage usage, Optional<HostResources> host, boolean local) {
    Map<String, Object> json = new LinkedHashMap<>();
    long freeMemory =
        local ? usage.free().memoryMb() : usage.capacity().memoryMb() - usage.reserved().memoryMb();
    if (freeMemory < Resources.UNLIMITED / 2) {
      json.put("memoryMb", Math.max(0, freeMemory));
    } else {
      host.ifPresent(one -> json.put("memoryMb", one.freeMemoryMb().orElse(one.memoryMb())));
    }
    if (usage.capacity().milliCpu() != Resources.UNLIMITED) {
      json.put("cpu", Math.max(0, usage.free().milliCpu()) / 1000.0);
    } else if (host.isPresent()) {
      json.put("cpu", host.get().processors());
    } else if (local) {
      json.put("cpu", Runtime.getRuntime().availableProcessors());
    }
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
    json.put("accelerated", info.accelerated());
    json.put("summary", info.summary());
    json.put("apiVersion", info.apiVersion().wireName());
    json.put("capabilities", info.capabilities().stream().map(Capability::idOf).sorted().toList());
    json.put("forks", ForkKind.of(info).stream().map(ForkKind::wireName).toList());
    json.put("snapshots", SnapshotKinds.of(info).stream().map(SnapshotKinds::wireName).toList());
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
        context.sandboxes().counts().stream()
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
