package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.create.CreateRequestMapper;
import dev.isola.compat.e2b.create.CreateVersion;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.template.E2bTemplate;
import dev.isola.compat.e2b.template.E2bTemplates;
import dev.isola.engine.api.EgressReport;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Routes that create, describe, renew, pause, resume and kill sandboxes. */
public record E2bSandboxRoutes(
    ServerContext context,
    E2bTemplates templates,
    CreateRequestMapper mapper,
    E2bSandboxView view) {
  /** Lifetime in seconds when a request that renews a sandbox does not set one. */
  private static final long TTL_SECONDS = CreateVersion.V2.defaultSeconds();

  /** How long a paused sandbox is kept. */
  private static final Duration PAUSED_TTL = Duration.ofDays(30);

  private static final Parameter KEY =
      Parameter.header(
          "Idempotency-Key",
          new Shape.NonEmptyText(255),
          "a repeated request with the same key does not create a second sandbox");

  private static final Shape ANY = new AnyObjectShape();

  public List<Route> routes() {
    return Stream.of(
            Stream.of(
                route("POST", "/sandboxes", "e2bCreateFirst", "Creates a sandbox.")
                    .takes(KEY)
                    .handledBy(exchange -> create(exchange, CreateVersion.V1)),
                route("POST", "/v2/sandboxes", "e2bCreate", "Creates a sandbox.")
                    .takes(KEY)
                    .handledBy(exchange -> create(exchange, CreateVersion.V2))),
            Stream.of("", "/v2")
                .map(
                    version ->
                        route(
                                "POST",
                                version + "/sandboxes/{id}/connect",
                                "e2bConnect" + version.replace("/", "").toUpperCase(Locale.ROOT),
                                "Connects to a sandbox; resumes it if it is paused.")
                            .handledBy(this::connect)),
            Stream.of(
                sandboxRoute("GET", "", "e2bGet", "Describes a sandbox.")
                    .needs(Scope.READ)
                    .answeredByAnyServer()
                    .handledBy(
                        exchange ->
                            exchange.json(
                                200,
                                view.details(exchange, SandboxLookup.find(context, exchange)))),
                sandboxRoute("DELETE", "", "e2bKill", "Kills a sandbox.").handledBy(this::kill),
                sandboxRoute(
                        "POST", "/timeout", "e2bTimeout", "Sets the time until a sandbox expires.")
                    .handledBy(exchange -> renew(exchange, "timeout")),
                sandboxRoute(
                        "POST",
                        "/refreshes",
                        "e2bRefresh",
                        "Sets the time until a sandbox expires.")
                    .handledBy(exchange -> renew(exchange, "duration")),
                sandboxRoute("POST", "/pause", "e2bPause", "Pauses a sandbox.")
                    .handledBy(this::pause),
                sandboxRoute("POST", "/resume", "e2bResume", "Resumes a sandbox.")
                    .handledBy(this::resume),
                sandboxRoute("PUT", "/network", "e2bNetwork", "Changes the network of a sandbox.")
                    .handledBy(this::network)))
        .flatMap(each -> each)
        .toList();
  }

  static Route route(String method, String template, String name, String summary) {
    Route route = Route.of(method, template, name, summary).needs(Scope.USE).of(E2bDialect.CONTROL);
    return method.equals("GET") || method.equals("DELETE")
        ? route
        : route.takes(new Route.Body.Json(ANY, false));
  }

  static Route sandboxRoute(String method, String rest, String name, String summary) {
    return route(method, "/sandboxes/{id}" + rest, name, summary);
  }

  private void create(Exchange exchange, CreateVersion version) throws IOException {
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    E2bTemplate template = templates.find(body.text("templateID").orElse(ImageService.BASE));
    SandboxRequest request =
        KeyPolicy.apply(exchange, mapper.toSandboxRequest(body, template, version));
    SandboxView entry =
        context
            .engine()
            .creator()
            .create(
                exchange.header("Idempotency-Key").map(request::withIdempotencyKey).orElse(request))
            .view();
    exchange.setSandbox(entry.id());
    exchange.json(201, view.connected(exchange, entry));
  }

  /** Resumes a paused sandbox. Extends its lifetime, but never shortens it. */
  private void connect(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    Duration time = CreateRequestMapper.seconds(body, "timeout", TTL_SECONDS);
    boolean suspended = E2bSandboxView.isSuspended(entry);
    if (suspended) {
      resumeSandbox(entry, body.flag("memory").orElse(true));
    }
    boolean expiresSooner =
        entry.expiresAt().filter(end -> end.isBefore(Instant.now().plus(time))).isPresent();
    if (suspended || expiresSooner) {
      context.sandboxes().renew(entry.id(), time);
    }
    exchange.json(suspended ? 201 : 200, view.connected(exchange, entry));
  }

  /**
   * Resumes a sandbox. Without memory, the sandbox keeps its files and its processes start again.
   */
  private void resumeSandbox(SandboxView entry, boolean memory) {
    Sandboxes sandboxes = context.sandboxes();
    sandboxes.resume(entry.id());
    if (!memory && entry.state() == SandboxState.PAUSED) {
      sandboxes.pause(entry.id(), PauseKind.FILESYSTEM);
      sandboxes.resume(entry.id());
    }
  }

  private void resume(Exchange exchange) throws IOException {
    if (!E2bSandboxView.isSuspended(SandboxLookup.find(context, exchange))) {
      throw alreadyIn(exchange, "running");
    }
    connect(exchange);
  }

  /** Pauses a sandbox. Its lifetime is extended while it is paused. */
  private void pause(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    if (E2bSandboxView.isSuspended(entry)) {
      throw alreadyIn(exchange, "paused");
    }
    Sandboxes sandboxes = context.sandboxes();
    boolean memory = new E2bRequestBody(exchange.body()).flag("memory").orElse(true);
    boolean pausesMemory =
        sandboxes
            .get(entry.id())
            .as(Pausing.class)
            .filter(one -> one.kinds().contains(PauseKind.MEMORY))
            .isPresent();
    sandboxes.renew(entry.id(), PAUSED_TTL);
    try {
      sandboxes.pause(entry.id(), memory && pausesMemory ? PauseKind.MEMORY : PauseKind.FILESYSTEM);
    } catch (SandboxException e) {
      entry
          .expiresAt()
          .ifPresent(end -> sandboxes.renew(entry.id(), Duration.between(Instant.now(), end)));
      throw e;
    }
    exchange.noContent();
  }

  private static SandboxException alreadyIn(Exchange exchange, String state) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "sandbox " + exchange.sandbox() + " is already " + state,
            "no action is needed")
        .exception();
  }

  private void renew(Exchange exchange, String field) throws IOException {
    SandboxId id = SandboxLookup.find(context, exchange).id();
    context
        .sandboxes()
        .renew(
            id,
            CreateRequestMapper.seconds(new E2bRequestBody(exchange.body()), field, TTL_SECONDS));
    exchange.noContent();
  }

  /**
   * Replaces the egress rules of a sandbox with a filtered network. Connections end that the new
   * rules deny. Otherwise accepts only a request that changes nothing about what the sandbox can
   * reach.
   */
  private void network(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    Network current = entry.request().spec().network();
    if (current.isFiltered()) {
      EgressReport _ =
          context
              .engine()
              .egress()
              .replace(entry.id(), mapper.egress(body, current), true, KeyPolicy.keyName(exchange));
    } else if (!mapper.keepsNetwork(body, current, view.isOfflineByDefault(entry))) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "the network of this sandbox cannot be changed, because it is not filtered",
              "create a new sandbox with this network, or with e2b.network: filtered")
          .exception();
    }
    exchange.noContent();
  }

  private void kill(Exchange exchange) throws IOException {
    context.sandboxes().destroy(SandboxLookup.find(context, exchange).id(), DestroyOptions.FORCE);
    exchange.noContent();
  }
}
