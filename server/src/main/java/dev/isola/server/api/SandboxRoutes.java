package dev.isola.server.api;

import dev.isola.document.SpecDocument;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Routes that create, describe, renew, pause and destroy sandboxes. */
record SandboxRoutes(ServerContext context, CreateBody body) {
  private static final int DEFAULT_PAGE = 100;
  private static final long MAX_DESTROY_MS = 600_000;

  List<Route> routes() {
    return List.of(
        Route.of("POST", "/api/v1/sandboxes", "createSandbox", "Creates a sandbox.")
            .needs(Scope.USE)
            .takes(
                Parameter.header(
                    "Idempotency-Key",
                    new Shape.NonEmptyText(255),
                    "a repeated request with the same key does not create a second sandbox"))
            .takes(CreateBody.SHAPE)
            .answers(
                Response.json(201, SandboxShapes.SANDBOX)
                    .or(200, "an earlier request with this Idempotency-Key created it"))
            .handledBy(this::create),
        Route.of("GET", "/api/v1/sandboxes", "listSandboxes", "Lists sandboxes, oldest first.")
            .takes(
                Parameter.query("tag", Shapes.TAG, "NAME=VALUE; a sandbox must match all tags")
                    .asRepeatable(),
                Parameter.query("state", Shapes.STATE, "state; default: all except destroyed")
                    .asRepeatable(),
                Parameter.query("provider", Shapes.WORD, "name of the provider"),
                Parameter.query("name", Shapes.SANDBOX_NAME, "name of the sandbox"),
                Parameter.query(
                    "ref",
                    Shapes.SANDBOX_NAME,
                    "name or id of a sandbox, or at least the first 3 characters of its id"),
                Parameter.query("limit", new Shape.WholeNumber(1, 1000), "page size; default 100"),
                Parameter.query(
                    "cursor", new Shape.NonEmptyText(256), "value of next on the previous page"))
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "sandboxes",
                                new Shape.ListOf(SandboxShapes.SANDBOX, 1000),
                                "one page of sandboxes"),
                            Field.optional("next", Shapes.WORD, "cursor of the next page"))
                        .named("SandboxList")))
            .handledBy(this::list),
        one("GET", "", "getSandbox", "Describes a sandbox.")
            .answeredByAnyServer()
            .acceptsSandboxTokens()
            .answers(Response.json(200, SandboxShapes.SANDBOX))
            .handledBy(exchange -> answer(exchange, context.sandboxes().view(exchange.sandbox()))),
        one("DELETE", "", "destroySandbox", "Destroys a sandbox. Returns when cleanup is complete.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(
                Parameter.query("force", Shapes.FLAG, "destroy it even if it has unsaved work"),
                Parameter.query(
                    "timeoutMs",
                    new Shape.WholeNumber(1, MAX_DESTROY_MS),
                    "the longest time to wait; after that the answer is DEADLINE_EXCEEDED, and the"
                        + " destruction continues"))
            .answers(Response.none())
            .handledBy(this::destroy),
        one("POST", "/renew", "renewSandbox", "Sets the time until a sandbox expires.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                                "ttlSeconds", Shapes.SECONDS, "lifetime in seconds, from now")
                            .example(600)),
                    true))
            .answers(Response.json(200, SandboxShapes.SANDBOX))
            .handledBy(
                exchange ->
                    answer(
                        exchange,
                        context
                            .sandboxes()
                            .renew(
                                exchange.sandbox(),
                                Duration.ofSeconds(exchange.wholeNumber("ttlSeconds"))))),
        one("POST", "/pause", "pauseSandbox", "Pauses a sandbox and keeps its processes in memory.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .answers(Response.json(200, SandboxShapes.SANDBOX))
            .handledBy(
                exchange ->
                    answer(
                        exchange, context.sandboxes().pause(exchange.sandbox(), PauseKind.MEMORY))),
        one("POST", "/stop", "stopSandbox", "Stops the processes of a sandbox and keeps its files.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .answers(Response.json(200, SandboxShapes.SANDBOX))
            .handledBy(
                exchange ->
                    answer(
                        exchange,
                        context.sandboxes().pause(exchange.sandbox(), PauseKind.FILESYSTEM))),
        one("POST", "/resume", "resumeSandbox", "Resumes a paused or stopped sandbox.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .answers(Response.json(200, SandboxShapes.SANDBOX))
            .handledBy(
                exchange -> answer(exchange, context.sandboxes().resume(exchange.sandbox()))));
  }

  private static Route one(String method, String rest, String name, String summary) {
    return Route.of(method, "/api/v1/sandboxes/{id}" + rest, name, summary).takes(Shapes.ID);
  }

  private void answer(Exchange exchange, SandboxView entry) throws IOException {
    exchange.json(200, view(entry));
  }

  /**
   * Describes a sandbox together with its names in other APIs and the limits that its provider does
   * not enforce.
   */
  private Map<String, Object> view(SandboxView entry) {
    Map<String, Object> json = JsonViews.sandbox(entry);
    json.put("runtimeId", entry.id().value());
    json.put("runtime", entry.provider());
    json.put("unenforcedLimits", JsonViews.wireNames(unenforced(entry)));
    return json;
  }

  private void create(Exchange exchange) throws IOException {
    SandboxRequest sandboxRequest = body.read(exchange);
    if (exchange.header("Idempotency-Key").isPresent()) {
      sandboxRequest = sandboxRequest.withIdempotencyKey(exchange.header("Idempotency-Key").get());
    }
    CreateResult delivery;
    try {
      delivery = context.engine().creator().create(KeyPolicy.apply(exchange, sandboxRequest));
    } catch (SandboxException e) {
      throw CreateFailure.of(sandboxRequest.request(), e);
    }
    exchange.setSandbox(delivery.view().id());
    Map<String, Object> json = view(delivery.view());
    Set<LimitKind> notEnforced = SpecDocument.requestedLimits(exchange.body());
    notEnforced.retainAll(unenforced(delivery.view()));
    json.put("unenforcedRequestedLimits", JsonViews.wireNames(notEnforced));
    exchange.json(delivery.repeated() ? 200 : 201, json);
  }

  /**
   * Returns the limits of a sandbox that are not enforced on this host, as declared by its
   * provider.
   */
  private Set<LimitKind> unenforced(SandboxView entry) {
    SandboxSpec spec = entry.request().spec();
    Set<LimitKind> kinds = EnumSet.allOf(LimitKind.class);
    context.components().health().current().stream()
        .filter(one -> one.name().equals(entry.provider()))
        .flatMap(one -> one.info().stream())
        .forEach(info -> kinds.removeIf(kind -> info.support().enforces(kind, spec)));
    return kinds;
  }

  private void list(Exchange exchange) throws IOException {
    SandboxListFilter filter = SandboxListFilter.ALL.pooled(false);
    for (String tag : exchange.queries("tag")) {
      int equals = tag.indexOf('=');
      filter = filter.label(tag.substring(0, equals), tag.substring(equals + 1));
    }
    List<SandboxState> states =
        exchange.queries("state").stream()
            .map(word -> SandboxState.valueOf(word.toUpperCase(Locale.ROOT)))
            .toList();
    filter =
        states.isEmpty()
            ? filter.notDestroyed()
            : filter.states(
                states.getFirst(), states.subList(1, states.size()).toArray(new SandboxState[0]));
    if (exchange.query("provider").isPresent()) {
      filter = filter.provider(exchange.query("provider").get());
    }
    if (exchange.query("name").isPresent()) {
      filter = filter.name(exchange.query("name").get());
    }
    if (exchange.query("ref").isPresent()) {
      filter = filter.reference(exchange.query("ref").get());
    }
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(DEFAULT_PAGE);
    SandboxPage page = context.sandboxes().list(filter, exchange.query("cursor").orElse(""), limit);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxes", page.entries().stream().map(JsonViews::sandbox).toList());
    page.next().ifPresent(next -> json.put("next", next));
    exchange.json(200, json);
  }

  private void destroy(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    context.sandboxes().view(id);
    boolean force = exchange.query("force").map(Boolean::parseBoolean).orElse(false);
    Optional<Duration> timeout =
        exchange.query("timeoutMs").map(Long::parseLong).map(Duration::ofMillis);
    if (timeout.isPresent()) {
      context.sandboxes().destroyWithin(id, new DestroyOptions(force, timeout.get()));
    } else {
      context.sandboxes().destroy(id, force ? DestroyOptions.FORCE : DestroyOptions.NORMAL);
    }
    exchange.noContent();
  }
}
